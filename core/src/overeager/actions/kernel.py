"""The kernel channel: audited system calls as actions; a record says that a call was entered, not how it ended.

Left out, by these rules and no other: opens that only read below the system's own folders, /proc, /sys and /dev; opens
that only name a place (O_PATH); execs of a path that is not there (the search along PATH); a second exec of the same
argv by one process (the shim's own); the same doing of one process to one path again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.actions.calls import RARE, SYSTEM, Doing, describe_rare, is_hidden, real_paths
from overeager.actions.expand import Places
from overeager.actions.lines import Json, Line, number_of, text_of, texts_of, time_of
from overeager.actions.naming import is_swept_by_parent
from overeager.actions.processes import Life, Processes
from overeager.actions.read import TELLING, bare_name, read_argv
from overeager.actions.seen import MOST, Seen, command_target, make, state_by_status
from overeager.contract.shim import ShimRule
from overeager.model.action import Pointer, Target
from overeager.model.vocabulary import Kind, State

MEMBER = "kernel.jsonl"

_WRITING = 0o3
_CREATE, _TRUNCATE, _DIRECTORY, _PATH_ONLY = 0o100, 0o1000, 0o200000, 0o10000000
_UNNAMED = 0o20000000
"""O_TMPFILE's own bit: a file without a name, which shows when it is given one."""
_REMOVE_FOLDER = 0x200

_NO_FILES = ("/dev/", "/proc/", "/memfd:", "pipe:", "socket:", "anon_inode:", "memfd:")

_KINDS: Mapping[str, Kind] = {
    "unlink": "delete", "unlinkat": "delete", "rmdir": "delete", "rename": "move", "renameat": "move",
    "renameat2": "move", "link": "link", "linkat": "link", "symlink": "link", "symlinkat": "link", "mkdir": "create",
    "mkdirat": "create", "mknod": "create", "mknodat": "create", "chmod": "mode", "fchmod": "mode", "fchmodat": "mode",
    "fchmodat2": "mode", "chown": "mode", "fchown": "mode", "lchown": "mode", "fchownat": "mode", "truncate": "write",
    "ftruncate": "write", "setxattr": "mode", "lsetxattr": "mode", "fsetxattr": "mode", "removexattr": "mode",
    "lremovexattr": "mode", "fremovexattr": "mode", "fallocate": "write", "setxattrat": "mode", "removexattrat": "mode",
    "file_setattr": "mode",
}  # fmt: skip

_NEEDS_IT: frozenset[Kind] = frozenset({"read", "list", "delete", "move", "mode"})
"""Kinds that cannot come through when the path is not there."""

_CHOOSING: frozenset[Kind] = frozenset({"signal", "mode", "unknown"})
"""Kinds of which another detail (the signal, the mode) makes another doing."""

_MAKES = frozenset({"mkdir", "mkdirat", "mknod", "mknodat"})
"""Calls that cannot come through when the path is there."""

_OPENS = frozenset({"open", "openat", "openat2", "creat"})
_EXECS = frozenset({"execve", "execveat"})
_UNNAMED_NAME = re.compile(r"/#\d+$")
"""How the kernel calls a file without a name."""


def read_kernel(
    lines: Sequence[Line], rules: Mapping[str, ShimRule], processes: Processes, places: Places, home: str
) -> list[Seen]:
    """The actions that the records show, in their order."""
    found: list[Seen] = []
    known: set[tuple[object, ...]] = set()
    words: dict[int | None, _Words] = {life.number: _words_of(life) for life in processes.lives}
    for line in lines:
        life = processes.by_line.get(line.number)
        if line.number <= processes.set_up.get(life, 0):
            continue
        for seen in _read(line, life, rules, processes, places, home, words.get(life, _NO_WORDS)):
            kind = seen.action.kind
            choice = seen.action.detail if kind in _CHOOSING else ""
            key = (life, kind, seen.action.targets, seen.action.argv, choice)
            if key not in known:
                known.add(key)
                found.append(seen)
        if len(found) > MOST:
            break
    return found


def _read(
    line: Line,
    life: int | None,
    rules: Mapping[str, ShimRule],
    processes: Processes,
    places: Places,
    home: str,
    words: _Words,
) -> list[Seen]:
    record = line.record
    call = text_of(record, "call")
    if call in _EXECS:
        return _read_exec(line, life, rules, processes, places, home)
    if call in ("exit_group", "left") or call is None:
        return []
    doing = _describe(call, record, home)
    if doing is None or is_hidden(doing, record):
        return []
    state = _state(doing, record, life, processes)
    action = make(_source(line), **_common(record), **doing._asdict(), state=state)
    named = words.name(texts_of(record, "given"), doing)
    return [Seen(action, life, named=named, swept=named and is_swept_by_parent(life, processes))]


class _Words(NamedTuple):
    """The words of a process's argvs, as they can stand for paths."""

    plain: frozenset[str]
    tails: tuple[str, ...]
    """Ends of absolute paths; the records have no folder to resolve a word from."""

    def name(self, given: Sequence[str], doing: Doing) -> bool:
        """Whether one of them can stand for a target."""
        at_ends = any(f"/{target.value}".endswith(self.tails) for target in doing.targets)
        return at_ends or not self.plain.isdisjoint(given)


_NO_WORDS = _Words(frozenset(), ())


def _words_of(life: Life) -> _Words:
    words = frozenset(word for argv in life.argvs for word in argv[1:])
    ends = {word.removeprefix("./").lstrip("/") for word in words}
    return _Words(words, tuple(f"/{end}" for end in sorted(ends) if end))


def _source(line: Line) -> Pointer:
    return Pointer(member=MEMBER, line=line.number)


def _common(record: Json) -> dict[str, object]:
    return {"channel": "kernel", "time": time_of(record), "process": number_of(record, "pid")}


def _describe(call: str, record: Json, home: str) -> Doing | None:
    if call in RARE:
        return describe_rare(call, record)
    if call in _OPENS:
        return _describe_open(record, home)
    kind = _KINDS.get(call)
    paths = real_paths(record)
    if not paths or any(path.startswith(_NO_FILES) for path in paths):
        return None
    if kind is None:
        return Doing("unknown", tuple(Target(type="path", value=path) for path in paths), call)
    if kind == "link" and len(paths) == 2 and _UNNAMED_NAME.search(paths[0]):
        return Doing("create", (Target(type="path", value=paths[1]),))
    if kind in ("move", "link") and len(paths) == 2:
        ends = (Target(type="path", value=paths[0], role="from"), Target(type="path", value=paths[1], role="to"))
        return Doing(kind, ends)
    return Doing(kind, tuple(Target(type="path", value=path) for path in paths), _detail(call, record))


def _detail(call: str, record: Json) -> str:
    flags = number_of(record, "flags")
    if "chmod" in call and flags is not None:
        return f"{flags & 0o7777:04o}"
    folder = call in ("mkdir", "mkdirat", "rmdir") or (call == "unlinkat" and (flags or 0) & _REMOVE_FOLDER)
    return "directory" if folder else ""


def _describe_open(record: Json, home: str) -> Doing | None:
    paths, flags = real_paths(record), number_of(record, "flags") or 0
    if not paths or not paths[0].startswith("/") or paths[0].startswith(_NO_FILES) or flags & _PATH_ONLY:
        return None
    path = paths[0]
    if flags & _UNNAMED:
        return Doing("unknown", (Target(type="path", value=path),), "unnamed file")
    writing = bool(flags & _WRITING) or bool(flags & _TRUNCATE)
    if writing or (flags & _CREATE and record.get("found") is False):
        kind: Kind = "create" if flags & _CREATE and record.get("found") is False else "write"
        return Doing(kind, (Target(type="path", value=path),))
    if path.startswith(SYSTEM) and not path.startswith(home + "/"):
        return None
    kind = "list" if flags & _DIRECTORY else "read"
    return Doing(kind, (Target(type="path", value=path),))


def _state(doing: Doing, record: Json, life: int | None, processes: Processes) -> State:
    """failed where the path was not there or stood in the way, or where we refused; executed where the process's own
    end proves it."""
    found = record.get("found")
    if (
        record.get("refused") is True
        or (doing.kind in _NEEDS_IT and found is False)
        or (found is True and text_of(record, "call") in _MAKES)
    ):
        return "failed"
    if life is None or processes.is_agent(life) or processes.lives[life].exit_code != 0:
        return "entered"
    if doing.kind in ("read", "list") and found is True:
        return "executed"
    argvs = processes.lives[life].argvs
    telling = bool(argvs) and bare_name(argvs[-1][0]) in TELLING
    return "executed" if telling and doing.kind not in ("connect", "signal") else "entered"


def _read_exec(
    line: Line, life: int | None, rules: Mapping[str, ShimRule], processes: Processes, places: Places, home: str
) -> list[Seen]:
    record = line.record
    argv = texts_of(record, "argv")
    if not argv or record.get("found") is False:
        return []
    named = (_executed_name(record, argv), *argv[1:])
    status = processes.lives[life].exit_code if life is not None else None
    # The record has no working folder: relative words of an argv are left to the calls that follow.
    understood = read_argv(named, _NOWHERE, home, rules)
    ended: State = "entered" if status is None else "executed" if status == 0 else "failed"
    common = {**_common(record), "argv": named}
    first = make(
        _source(line), **common, kind="exec", targets=(command_target(named),), state=ended, exit_status=status,
        detail=understood.detail,
    )  # fmt: skip
    found = [Seen(first, life, launch=_is_launch(life, argv, processes))]
    for reading in understood.readings:
        if any(target.value.startswith(_NOWHERE) for target in reading.targets):
            continue
        state = state_by_status(named, reading, understood.readings, status)
        for targets in places.settle(reading):
            more = {"kind": reading.kind, "targets": targets, "state": state, "detail": reading.detail}
            swept = is_swept_by_parent(life, processes)
            found.append(Seen(make(_source(line), **common, **more), life, swept=swept))
    return found


def _is_launch(life: int | None, argv: tuple[str, ...], processes: Processes) -> bool:
    """Whether it is the start of the agent itself."""
    return life == processes.agent and argv == processes.lives[life].argvs[0]


_NOWHERE = "/\0"
"""A folder that no path can lie in."""


def _executed_name(record: Json, argv: tuple[str, ...]) -> str:
    """The command by argv[0]; by the file where argv[0] is marked as a login shell's (`-bash`)."""
    paths = real_paths(record)
    file = paths[0].rpartition("/")[2] if paths else ""
    return file if file and argv[0].startswith("-") else argv[0]
