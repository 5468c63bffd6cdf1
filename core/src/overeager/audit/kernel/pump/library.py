"""The compiled form of the kernel channel's loop: it answers the frequent calls itself and hands us the others.

Both forms write the same records. What the compiled one finds odd in any way it leaves unanswered, and the Python form
looks at it from the start, so that there is one place for every rare case.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overeager.audit.journal import Journal, RecordFile
from overeager.audit.kernel import seccomp
from overeager.audit.kernel.origin import Origin
from overeager.audit.kernel.syscalls import ATTRIBUTES, NAMES, Call

ENDED, SHIMS, CALL, IDLE, FAILED, BROKEN = range(6)
"""Why `Pump.run` comes back."""

_LEFT, _OPEN, _PATH, _EXEC, _EXIT, _THREAD, _DESCRIPTOR, _ADDRESS, _MESSAGE, _KILL, _OWN_KILL = range(11)
_FLAGS_NONE, _FLAGS_CREAT, _FLAGS_HOW = -1, -2, -3
_TOLD, _SETTLED = 1, 2
"""`failure`: it has just come about; we know of it."""


class _Place(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_int32) for name in ("at", "base", "follow", "flip", "flip_at"))


class _Call(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int32) for name in ("number", "kind", "flags", "argument", "paths")),
        ("path", _Place * 2),
        ("name", ctypes.c_char * 28),
    )


class _Head(ctypes.Structure):
    """The part of its state that is ours too."""

    _fields_ = (
        *(
            (name, ctypes.c_int32)
            for name in ("listener", "shims", "file", "outer", "init", "agent", "idle", "padding")
        ),
        ("number", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("room", ctypes.c_int64),
        ("mounts", ctypes.c_uint64),
        ("began", ctypes.c_double),
        ("failure", ctypes.c_int32),
        ("error", ctypes.c_int32),
        ("notice", ctypes.c_char * seccomp.NOTIFICATION.size),
    )


class PumpLibrary:
    """The loaded shared object; raises OSError when it cannot be loaded or is not of this version."""

    def __init__(self, path: Path) -> None:
        self.functions: Any = ctypes.CDLL(str(path))
        pointer, number, size = ctypes.c_void_p, ctypes.c_int32, ctypes.c_size_t
        declared: Mapping[str, tuple[Any, tuple[Any, ...]]] = {
            "pump_head_size": (size, ()),
            "pump_call_size": (size, ()),
            "pump_open": (pointer, (pointer, number)),
            "pump_close": (None, (pointer,)),
            "pump_run": (ctypes.c_int, (pointer,)),
            "pump_forget": (None, (pointer, number, number)),
            "pump_forget_roots": (None, (pointer,)),
            "pump_is_new": (ctypes.c_int, (pointer, number, number)),
            "pump_quote": (ctypes.c_int, (ctypes.c_char_p, size, pointer, size)),
            "pump_address": (ctypes.c_int, (ctypes.c_char_p, size, pointer, size)),
        }
        for name, (result, arguments) in declared.items():
            try:
                function = getattr(self.functions, name)
            except AttributeError as error:
                raise OSError(f"{path.name} has no {name}") from error
            function.restype, function.argtypes = result, list(arguments)
        sizes = (self.functions.pump_head_size(), self.functions.pump_call_size())
        if sizes != (ctypes.sizeof(_Head), ctypes.sizeof(_Call)):
            raise OSError(f"{path.name} is laid out otherwise than expected")


class Pump:
    """One trial's loop; a `Told` of the Python form. `shims` is a descriptor to come back for, or -1.

    It waits for the trial's own doings to begin, and leaves the first of them to us; then `begin` is due.
    """

    def __init__(
        self,
        library: PumpLibrary,
        calls: Mapping[int, Call],
        origin: Origin,
        shims: int,
        journal: Journal,
    ) -> None:
        assert journal.kernel is not None
        self._journal = journal
        self._file: RecordFile = journal.kernel
        self._functions = library.functions
        self._calls = (_Call * len(calls))(*(_lay_out(number, call) for number, call in calls.items()))
        state = self._functions.pump_open(self._calls, len(calls))
        if not state:
            raise MemoryError("no memory for the records")
        self._state = ctypes.c_void_p(state)
        self._head = _Head.from_address(state)
        self._head.listener, self._head.shims = origin.listener, shims
        self._head.outer, self._head.init = origin.outer, origin.init
        self._head.began = journal.began
        self._head.file = -1 if self._file.failure else self._file.fileno()

    @property
    def init(self) -> int:
        """The first process inside; 0 = it has not come yet."""
        return int(self._head.init)

    @property
    def begun(self) -> bool:
        """Whether `begin` was called."""
        return bool(self._head.agent)

    def begin(self, agent: int, mounts: int) -> None:
        """The trial's own doings have begun: `agent` is the process whose end is left to us, `mounts` the mount
        namespace outside of which every path is."""
        self._head.agent, self._head.mounts = agent, mounts

    @property
    def notice(self) -> bytes:
        """The notification that `run` leaves to us when it comes back with CALL."""
        address = ctypes.addressof(self._head) + _Head.notice.offset
        return ctypes.string_at(address, seccomp.NOTIFICATION.size)

    def run(self) -> int:
        """Serve until somebody else is needed; why. Raises OSError when the kernel refuses to go on."""
        head, file = self._head, self._file
        file.flush()
        if file.failure:
            head.file = -1
        head.number, head.count, head.room = self._journal.number, file.count, file.room
        why = int(self._functions.pump_run(self._state))
        self._journal.number, file.count, file.room = head.number, head.count, head.room
        if head.failure == _TOLD:
            head.failure = _SETTLED
            file.fail_with(head.error)
        if why == BROKEN:
            raise OSError(head.error, os.strerror(head.error))
        return why

    def forget(self, thread: int, process: int) -> None:
        """We have done a call that ends or replaces what was held of them."""
        self._functions.pump_forget(self._state, thread, process)

    def forget_roots(self) -> None:
        """We have seen a call that changes what paths mean."""
        self._functions.pump_forget_roots(self._state)

    def is_new(self, process: int, inner: int) -> bool:
        """Whether nothing was told of the process yet; from now on something was."""
        return bool(self._functions.pump_is_new(self._state, process, inner))

    def end(self, process: int) -> None:
        """The process has ended; its number may come back."""
        self._functions.pump_is_new(self._state, process, 0)

    def close(self) -> None:
        """Give all back."""
        self._functions.pump_close(self._state)


_FREQUENT = frozenset(call.name for call in (*NAMES, *ATTRIBUTES))
_KINDS = {
    "open": _OPEN, "openat": _OPEN, "creat": _OPEN, "openat2": _OPEN, "execve": _EXEC, "execveat": _EXEC,
    "exit_group": _EXIT, "exit": _THREAD, "connect": _ADDRESS, "sendto": _ADDRESS, "sendmsg": _MESSAGE,
    "kill": _KILL, "tgkill": _OWN_KILL, "rt_tgsigqueueinfo": _OWN_KILL,
}  # fmt: skip


def _lay_out(number: int, call: Call) -> _Call:
    kind = _KINDS.get(call.name, _LEFT)
    if call.name in _FREQUENT:
        kind = _DESCRIPTOR if call.kind == "descriptor" else _PATH
    flags = {"creat": _FLAGS_CREAT, "openat2": _FLAGS_HOW}.get(call.name, _FLAGS_NONE)
    places = [
        _Place(path.place, -1 if path.base is None else path.base, path.follow, path.flip, path.flip_index)
        for path in call.paths
    ]
    laid = _Call(number, kind, flags if call.flags is None else call.flags, call.argument, len(places))
    for at, place in enumerate(places):
        laid.path[at] = place
    laid.name = call.name.encode()
    return laid
