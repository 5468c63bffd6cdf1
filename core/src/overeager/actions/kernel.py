"""The kernel channel: audited system calls as actions; a record says that a call was entered, not how it ended.

Left out, by these rules and no other: opens that only read below the system's own folders, /proc, /sys and /dev; opens
that only name a place (O_PATH); execs of a path that is not there (the search along PATH); a second exec of the same
argv by one process (the shim's own); the same doing of one process to one path again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.actions.expand import Places
from overeager.actions.lines import Json, Line, number_of, text_of, texts_of, time_of
from overeager.actions.processes import Processes
from overeager.actions.read import TELLING, bare_name, read_argv
from overeager.actions.seen import Seen, command_target, make, state_by_status
from overeager.contract.shim import ShimRule
from overeager.model.action import Pointer, Target
from overeager.model.vocabulary import Kind, State

MEMBER = "kernel.jsonl"

_WRITING = 0o3
_CREATE, _TRUNCATE, _DIRECTORY, _PATH_ONLY = 0o100, 0o1000, 0o200000, 0o10000000
_REMOVE_FOLDER = 0x200

_SYSTEM = ("/usr/", "/lib/", "/lib64/", "/lib32/", "/bin/", "/sbin/", "/etc/", "/proc/", "/sys/", "/dev/", "/run/")
"""Folders whose reading is the business of the loader, the locale and the shell; they hold nothing of the user's."""

_NO_FILES = ("/dev/", "/proc/", "pipe:", "socket:", "anon_inode:", "memfd:")

_KINDS: Mapping[str, Kind] = {
    "unlink": "delete", "unlinkat": "delete", "rmdir": "delete", "rename": "move", "renameat": "move",
    "renameat2": "move", "link": "link", "linkat": "link", "symlink": "link", "symlinkat": "link", "mkdir": "create",
    "mkdirat": "create", "mknod": "create", "mknodat": "create", "chmod": "mode", "fchmod": "mode", "fchmodat": "mode",
    "fchmodat2": "mode", "chown": "mode", "fchown": "mode", "lchown": "mode", "fchownat": "mode", "truncate": "write",
    "ftruncate": "write", "setxattr": "mode", "lsetxattr": "mode", "fsetxattr": "mode", "removexattr": "mode",
    "lremovexattr": "mode", "fremovexattr": "mode",
}  # fmt: skip

_NEEDS_IT: frozenset[Kind] = frozenset({"read", "list", "delete", "move", "mode"})
"""Kinds that cannot come through when the path is not there."""

_OPENS = frozenset({"open", "openat", "openat2", "creat"})
_EXECS = frozenset({"execve", "execveat"})


class Doing(NamedTuple):
    """A record in the words of an action."""

    kind: Kind
    targets: tuple[Target, ...]
    detail: str = ""


def read_kernel(
    lines: Sequence[Line], rules: Mapping[str, ShimRule], processes: Processes, places: Places, home: str
) -> list[Seen]:
    """The actions that the records show, in their order."""
    found: list[Seen] = []
    known: set[tuple[object, ...]] = set()
    for line in lines:
        life = processes.by_line.get(line.number)
        for seen in _read(line, life, rules, processes, places, home):
            key = (life, seen.action.kind, seen.action.targets, seen.action.argv)
            if key not in known:
                known.add(key)
                found.append(seen)
    return found


def _read(
    line: Line, life: int | None, rules: Mapping[str, ShimRule], processes: Processes, places: Places, home: str
) -> list[Seen]:
    record = line.record
    call = text_of(record, "call")
    if call in _EXECS:
        return _read_exec(line, life, rules, processes, places, home)
    if call == "exit_group" or call is None:
        return []
    doing = _describe(call, record, home)
    if doing is None:
        return []
    state = _state(doing, record, life, processes)
    argvs = processes.lives[life].argvs if life is not None else ()
    action = make(_source(line), **_common(record), **doing._asdict(), state=state)
    return [Seen(action, life, named=any(_names(word, doing) for argv in argvs for word in argv[1:]))]


def _names(word: str, doing: Doing) -> bool:
    """Whether a word of an argv can stand for the target; the record has no folder to resolve it from."""
    tail = "/" + word.removeprefix("./").lstrip("/")
    return len(tail) > 1 and any(f"/{target.value}".endswith(tail) for target in doing.targets)


def _source(line: Line) -> Pointer:
    return Pointer(member=MEMBER, line=line.number)


def _common(record: Json) -> dict[str, object]:
    return {"channel": "kernel", "time": time_of(record), "process": number_of(record, "pid")}


def _describe(call: str, record: Json, home: str) -> Doing | None:
    if call in ("connect", "sendto"):
        address = text_of(record, "address")
        return Doing("connect", (Target(type="address", value=address),)) if address else None
    if call == "kill":
        pid, signal = number_of(record, "target"), number_of(record, "signal")
        return Doing("signal", (Target(type="process", value=str(pid)),), str(signal)) if signal else None
    if call in _OPENS:
        return _describe_open(record, home)
    kind = _KINDS.get(call)
    paths = _paths(record)
    if not paths or any(path.startswith(_NO_FILES) for path in paths):
        return None
    if kind is None:
        return Doing("unknown", tuple(Target(type="path", value=path) for path in paths), call)
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


def _paths(record: Json) -> tuple[str, ...]:
    """The real paths, and where one could not be resolved the given one when it is absolute."""
    real, given = record.get("paths"), record.get("given")
    reals = real if isinstance(real, list) else []
    givens = given if isinstance(given, list) else []
    found: list[str] = []
    for at in range(max(len(reals), len(givens))):
        path = reals[at] if at < len(reals) else None
        path = path if isinstance(path, str) else (givens[at] if at < len(givens) else None)
        if isinstance(path, str) and path:
            found.append(path.removesuffix(" (deleted)"))
    return tuple(found)


def _describe_open(record: Json, home: str) -> Doing | None:
    paths, flags = _paths(record), number_of(record, "flags") or 0
    if not paths or not paths[0].startswith("/") or paths[0].startswith(_NO_FILES) or flags & _PATH_ONLY:
        return None
    path = paths[0]
    writing = bool(flags & _WRITING) or bool(flags & _TRUNCATE)
    if writing or (flags & _CREATE and record.get("found") is False):
        kind: Kind = "create" if flags & _CREATE and record.get("found") is False else "write"
        return Doing(kind, (Target(type="path", value=path),))
    if path.startswith(_SYSTEM) and not path.startswith(home + "/"):
        return None
    kind = "list" if flags & _DIRECTORY else "read"
    return Doing(kind, (Target(type="path", value=path),))


def _state(doing: Doing, record: Json, life: int | None, processes: Processes) -> State:
    """failed where the path was not there; executed where the process's own end proves it."""
    found = record.get("found")
    if doing.kind in _NEEDS_IT and found is False:
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
    found = [Seen(first, life, launch=life == 0 and argv == processes.lives[0].argvs[0])]
    for reading in understood.readings:
        if any(target.value.startswith(_NOWHERE) for target in reading.targets):
            continue
        state = state_by_status(named, reading, understood.readings, status)
        action = make(
            _source(line), **common, kind=reading.kind, targets=places.settle(reading), state=state,
            detail=reading.detail,
        )  # fmt: skip
        found.append(Seen(action, life))
    return found


_NOWHERE = "/\0"
"""A folder that no path can lie in."""


def _executed_name(record: Json, argv: tuple[str, ...]) -> str:
    """The command by argv[0]; by the file where argv[0] is marked as a login shell's (`-bash`)."""
    paths = _paths(record)
    file = paths[0].rpartition("/")[2] if paths else ""
    return file if file and argv[0].startswith("-") else argv[0]
