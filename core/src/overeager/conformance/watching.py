"""What a function touches while it runs, told by a process that was forked to watch it."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from datetime import date, datetime
from random import Random
from types import FrameType
from typing import Any

_MODULES = {
    "_io": "a file",
    "_posixsubprocess": "a process",
    "_socket": "a socket",
    "posix": "the system",
    "select": "the system",
    "_signal": "the system",
    "signal": "the system",
    "time": "the clock",
    "_thread": "a thread",
}
"""Modules of C functions, and what those reach."""

_HARMLESS = {
    "posix": {"fspath", "_path_normpath", "_path_splitroot_ex"},
    "_io": {"StringIO", "BytesIO", "text_encoding"},
    "_thread": {"allocate_lock", "get_ident", "RLock"},
    "time": {"strptime", "mktime", "gmtime", "struct_time"},
}
"""What only reckons with text and memory."""

_EVENTS = (
    "open",
    "os.",
    "socket.",
    "subprocess.",
    "shutil.",
    "tempfile.",
    "pathlib.",
    "urllib.",
    "ctypes.",
)
"""Beginnings of audit events that tell of something outside."""


def watch(work: Callable[[], object], given: Random | None = None) -> tuple[str, ...]:
    """What `work` touched, sorted, each once: files, sockets, processes, clock, chance other than `given`.

    It runs in a forked process; what it raises is told as well.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _report(work, given, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read()
    status = os.waitpid(child, 0)[1]
    if not said:
        return (f"it ended the process, status {status}",)
    return tuple(json.loads(said))


def _report(work: Callable[[], object], given: Random | None, writer: int) -> None:
    """In the child: never returns."""
    seen: set[str] = set()
    gc.disable()  # what others have hung on a collection is not of `work`
    try:
        _observe(work, given, seen)
    except BaseException as error:  # noqa: BLE001 - the parent is told, whatever it is
        seen.add(f"it raised {type(error).__name__}: {error}")
    finally:
        sys.setprofile(None)
        os.write(writer, json.dumps(sorted(seen)[:20]).encode())
        os._exit(0)


def _observe(work: Callable[[], object], given: Random | None, seen: set[str]) -> None:
    active = True

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        outside = event.startswith(_EVENTS) or (event == "sqlite3.connect" and arguments[0] != ":memory:")
        if active and outside and not _imports(sys._getframe(1)):
            seen.add(f"{event} {arguments[0] if arguments else ''!r}"[:200].rstrip())

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if (
            event == "c_call"
            and not _imports(frame)
            and (given is None or getattr(argument, "__self__", None) is not given)
        ):
            seen.update(_reach(argument))

    sys.addaudithook(hear)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        active = False


def _imports(frame: FrameType | None) -> bool:
    """Whether it is the import system that is at work: a module may be loaded when it is first needed."""
    return frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")


def _reach(function: Any) -> Iterator[str]:
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    if module in _MODULES and name not in _HARMLESS.get(module, ()):
        yield f"{_MODULES[module]}: {module.lstrip('_')}.{name}"
    elif isinstance(owner, type) and issubclass(owner, date | datetime) and name in ("now", "today", "utcnow"):
        yield f"the clock: {owner.__name__}.{name}"
    elif isinstance(owner, Random):
        yield f"chance: random.{name}"
