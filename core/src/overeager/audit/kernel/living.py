"""The processes that still live in a sandbox."""

# ruff: noqa: PTH115  # bytes: no Path for each link that is read

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from overeager.audit.kernel.target import read_status

_MOST_LIVING = 512
_MOST_WORDS = 1 << 12
"""Bytes of a command line."""


class Living(NamedTuple):
    """One process, in the host's numbers but for `inside`."""

    pid: int
    inside: int
    ppid: int
    sid: int
    argv: list[str]
    exe: str | None
    """None = it hides itself."""


class Remainder(NamedTuple):
    """Who lives, by pid; and how many more were found than are told of."""

    processes: list[Living]
    cut: int


def list_living(first: int, *, but: int) -> Remainder:
    """Every process below `first`, the sandbox's first one, that is no zombie; without `but`.

    Orphans are its children, so nothing that lives is missed.
    """
    found = sorted(pid for pid in _descend(first) if pid != but)
    told = [living for pid in found[:_MOST_LIVING] if (living := _look(pid)) is not None]
    return Remainder(told, len(found[_MOST_LIVING:]))


def _descend(first: int) -> Iterator[int]:
    """All offspring of `first`; where the kernel keeps no lists of children, by everybody's parent."""
    parents: Mapping[int, list[int]] | None = None
    waiting, seen = [first], {first}
    while waiting:
        pid = waiting.pop()
        children = _children(pid)
        if children is None:
            parents = _all_children() if parents is None else parents
            children = parents.get(pid, [])
        fresh = [child for child in children if child not in seen]
        seen.update(fresh)
        waiting += fresh
        yield from fresh


def _children(pid: int) -> list[int] | None:
    """The children of all threads of `pid`; None = this kernel does not tell."""
    found: list[int] = []
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []
    for thread in threads:
        try:
            with open(thread / "children", "rb", buffering=0) as file:
                found += map(int, file.read().split())
        except FileNotFoundError:
            if not Path("/proc/self/task", str(os.getpid()), "children").exists():
                return None
        except OSError:
            continue
    return found


def _all_children() -> Mapping[int, list[int]]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, KeyError, ValueError):
                children.setdefault(read_status(int(folder.name)).parent, []).append(int(folder.name))
    return children


def _look(pid: int) -> Living | None:
    """What is to be told of `pid`; None = it is a zombie, or gone."""
    try:
        status = read_status(pid)
        with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
            words = file.read(_MOST_WORDS)
    except (OSError, KeyError, ValueError):
        return None
    if not status.lives:
        return None
    try:
        exe = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        exe = None
    argv = [os.fsdecode(word) for word in words.removesuffix(b"\0").split(b"\0")] if words else [status.comm]
    return Living(pid, status.inner, status.parent, status.session, argv, exe)
