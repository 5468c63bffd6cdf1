"""The seccomp listener: a filter that asks us about the audited calls, and the ioctls to answer it.

Every answer is "continue": nothing is ever refused or changed, save for three doors that would lead round the filter:
io_uring, the x32 calls and foreign architectures say ENOSYS, as on a kernel that lacks them; the first of these not
without a record.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import struct
from collections.abc import Mapping
from typing import NamedTuple

from overeager.audit.kernel.syscalls import ARCHITECTURES, Asked, Call

NOTIFICATION = struct.Struct("=QIIiIQ6Q")
"""struct seccomp_notif: id, pid, flags, then seccomp_data: number, architecture, instruction, six arguments."""
ANSWER = struct.Struct("=QqiI")
"""struct seccomp_notif_resp: id, value, error, flags."""
GO_ON = (0, 0, 1)
"""Value, error and flags of an answer: SECCOMP_USER_NOTIF_FLAG_CONTINUE."""
NO_SUCH_CALL = (0, -errno.ENOSYS, 0)


def _ioctl(direction: int, number: int, size: int) -> int:
    return (direction << 30) | (size << 16) | (ord("!") << 8) | number


RECEIVE = _ioctl(3, 0, NOTIFICATION.size)
SEND = _ioctl(3, 1, ANSWER.size)
SET_FLAGS = _ioctl(1, 4, 8)
SYNC_WAKE_UP = 1

_NR_SECCOMP = 317
_SET_MODE_FILTER = 1
_NEW_LISTENER = 1 << 3
_WAIT_KILLABLE = 1 << 5
_PR_SET_NO_NEW_PRIVS = 38

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ASK, _ALLOW, _NO_SUCH_CALL = 0x7FC00000, 0x7FFF0000, 0x00050000 | errno.ENOSYS
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32 = 0x40000000

_INSTRUCTION = struct.Struct("=HBBI")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


class Refusal(NamedTuple):
    """Why the kernel gives no listener."""

    errno: int
    reason: str


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return _INSTRUCTION.pack(code, yes, no, value)


def _argument_at(index: int) -> int:
    return _ARGUMENTS_AT + 8 * index


def _ask_unless_zero(number: int, index: int) -> list[bytes]:
    """Ask about call `number` only when its 64-bit argument `index` is not zero."""
    return [
        _step(_EQUAL, number, 0, 6),
        _step(_LOAD, _argument_at(index)),
        _step(_EQUAL, 0, 0, 2),
        _step(_LOAD, _argument_at(index) + 4),
        _step(_EQUAL, 0, 1, 0),
        _step(_RETURN, _ASK),
        _step(_RETURN, _ALLOW),
    ]


def _ask_by_value(number: int, asked: Asked) -> list[bytes]:
    """Ask about call `number` only when the low half of an argument is, or is not, one of some values."""
    count = len(asked.values)
    hit, miss = (_ASK, _ALLOW) if asked.among else (_ALLOW, _ASK)
    tests = [_step(_EQUAL, value, count - at, 0) for at, value in enumerate(asked.values)]
    return [
        _step(_EQUAL, number, 0, count + 3),
        _step(_LOAD, _argument_at(asked.place)),
        *tests,
        _step(_RETURN, miss),
        _step(_RETURN, hit),
    ]


def _ask(number: int, call: Call) -> list[bytes]:
    if call.pointed is not None:
        return _ask_unless_zero(number, call.pointed)
    if call.asked is not None:
        return _ask_by_value(number, call.asked)
    return [_step(_EQUAL, number, 0, 1), _step(_RETURN, _ASK)]


def build_filter(calls: Mapping[int, Call], architecture: int) -> bytes:
    """The BPF program that asks about `calls` and allows every other.

    A `sendto` without an address (an ordinary write to a socket) and a `kill` with signal 0 (a look whether a
    process lives) do nothing of interest and are not asked about.
    """
    steps = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _NO_SUCH_CALL),
        _step(_LOAD, _NUMBER_AT),
        _step(_AT_LEAST, _X32, 0, 1),
        _step(_RETURN, _NO_SUCH_CALL),
    ]
    for number, call in calls.items():
        steps += _ask(number, call)
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def build_own_filter(calls: Mapping[int, Call]) -> bytes:
    """The filter for the machine we run on; `calls` are its table."""
    return build_filter(calls, ARCHITECTURES[platform.machine()])


def forbid_new_privileges() -> None:
    """Set NO_NEW_PRIVS on the calling thread, for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "NO_NEW_PRIVS")


def install(program: bytes) -> int:
    """Put `program` on the calling thread and all its offspring; the listener's descriptor. Raises OSError.

    The target sleeps killably while we look at it (Linux 5.19), so that Go's preemption signals do not make it ask
    again and again; older kernels do without.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    buffer = ctypes.create_string_buffer(program, len(program))
    description = _Program(len(program) // _INSTRUCTION.size, ctypes.addressof(buffer))
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        listener = int(libc.syscall(_NR_SECCOMP, _SET_MODE_FILTER, flags, ctypes.byref(description)))
        if listener >= 0:
            return listener
    raise OSError(ctypes.get_errno(), "seccomp")


def wake_in_step(listener: int) -> bool:
    """Let the kernel hand the processor straight over to us and back (Linux 6.6); False where it cannot."""
    try:
        fcntl.ioctl(listener, SET_FLAGS, SYNC_WAKE_UP)
    except OSError:
        return False
    return True


def explain(number: int) -> str:
    """Why the kernel refused a listener, in words."""
    known = {
        errno.EBUSY: "another seccomp listener is already installed above us (EBUSY)",
        errno.EINVAL: "this kernel has no seccomp user notification (EINVAL); it needs Linux 5.5 or later",
        errno.ENOSYS: "this kernel has no seccomp (ENOSYS)",
        errno.EACCES: "the kernel refused the filter (EACCES)",
    }
    return known.get(number, f"the kernel refused a seccomp listener: {os.strerror(number)}")


def refusal() -> Refusal | None:
    """Try a listener in a child that ends at once; None = it works here."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(_try_listener()).encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answer:
        number = int(answer.read() or errno.EIO)
    os.waitpid(child, 0)
    return Refusal(number, explain(number)) if number else None


def _try_listener() -> int:
    """0, or the errno of a listener that watches a call which nobody makes."""
    try:
        forbid_new_privileges()
        install(build_own_filter({}))
    except KeyError:
        return errno.ENOSYS
    except OSError as error:
        return error.errno or errno.EIO
    return 0
