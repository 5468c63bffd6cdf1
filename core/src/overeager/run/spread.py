"""Work on many things, spread over forked processes; what comes of each is one short line, in the things' order."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, NamedTuple, TypeVar

from overeager.errors import OvereagerError

Item = TypeVar("Item")


class _Child(NamedTuple):
    pid: int
    lines: IO[str]
    """One for each thing of its share; what it could not do has an empty one, and a child that died no more."""


def spread(items: Sequence[Item], work: Callable[[Item], str], jobs: int) -> Iterator[str]:
    """What `work` says of each item, in order; nothing of what was said is kept.

    `jobs` forked processes work ahead, each no further than its pipe holds: iterate in a process without threads. What
    one of them cannot do is done again by the caller, and raises there; the others are then ended.
    """
    children: list[_Child] = []
    try:
        gc.freeze()  # what is shared with the children stays shared
        try:
            for share in range(jobs):
                children.append(_fork(items[share::jobs], work))
        finally:
            gc.unfreeze()
        for number, item in enumerate(items):
            line = children[number % jobs].lines.readline()
            yield line[:-1] if len(line) > 1 and line.endswith("\n") else work(item)
    finally:
        _end(children)


def _fork(share: Sequence[Item], work: Callable[[Item], str]) -> _Child:
    source, sink = os.pipe()
    pid = os.fork()
    if pid:
        os.close(sink)
        return _Child(pid, open(source, encoding="utf-8"))  # of a pipe; closed by _end
    try:
        os.close(source)
        with open(sink, "w", encoding="utf-8", buffering=1) as told:  # of a pipe
            for item in share:
                told.write(_say(item, work) + "\n")
    finally:
        os._exit(0)


def _say(item: Item, work: Callable[[Item], str]) -> str:
    with suppress(OvereagerError):
        return work(item)
    return ""


def _end(children: Sequence[_Child]) -> None:
    """End what still works, as Ctrl-C does: no draft is left, and none goes on when the caller has ended."""
    for child in children:
        child.lines.close()
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGINT)
    for child in children:
        with suppress(ChildProcessError):
            os.waitpid(child.pid, 0)
