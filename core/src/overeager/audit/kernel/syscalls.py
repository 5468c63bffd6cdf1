"""Which system calls are audited, and where their arguments hold paths, flags and addresses."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Literal, NamedTuple

from overeager.audit.kernel.syscall_numbers import NUMBERS

AT_SYMLINK_NOFOLLOW = 0x100
AT_SYMLINK_FOLLOW = 0x400

Kind = Literal[
    "open", "path", "descriptor", "exec", "exit", "thread", "address", "message", "signal", "process", "mount", "text",
    "number", "refused",
]  # fmt: skip
"""What a call is about, and so how its record is made.

`thread`: one thread ends, which gives no record; `message`: an address in a msghdr; `process`: it reaches into another
process; `text`: a mount that is made piece by piece; `number`: only its flags tell; `refused`: answered with ENOSYS.
"""


class PathArgument(NamedTuple):
    """Where one path of a call stands and how its last component is looked up."""

    place: int
    """Argument that points to the path."""
    base: int | None = None
    """Argument that holds the directory descriptor; None = the working directory."""
    follow: bool = True
    """Whether a link in the last component is followed,"""
    flip: int = 0
    """unless one of these bits is set in the argument"""
    flip_index: int = 0
    """of this index: then it is the other way round."""


class Asked(NamedTuple):
    """Which calls of a number are asked about, by the low half of one argument; the filter sees no memory."""

    place: int
    values: tuple[int, ...]
    among: bool = True
    """False = those with any other value."""


class Call(NamedTuple):
    """One audited system call."""

    name: str
    kind: Kind = "path"
    paths: tuple[PathArgument, ...] = ()
    flags: int | None = None
    """Argument that goes into the record: flags of an open, mode of a chmod or mkdir."""
    argument: int = 0
    """Descriptor, argv, address, exit code or pid: what the kind is about."""
    asked: Asked | None = None
    """None = every call."""
    pointed: int | None = None
    """Argument that must point somewhere, else the call is not asked about."""
    moves_root: bool = False
    """Whether it changes what paths mean to a process."""


def _at(path: int, base: int, *, follow: bool = True, flip: int = 0, flip_index: int = 0) -> PathArgument:
    return PathArgument(path, base, follow, flip, flip_index)


def _plain(path: int, *, follow: bool = True, flip: int = 0, flip_index: int = 0) -> PathArgument:
    return PathArgument(path, None, follow, flip, flip_index)


_NOFOLLOW = _plain(0, follow=False)
_NOFOLLOW_AT = _at(1, 0, follow=False)
_AT_PATH = _at(1, 0, flip=AT_SYMLINK_NOFOLLOW, flip_index=2)

OPENS: tuple[Call, ...] = (
    Call("openat", "open", (_at(1, 0, flip=os.O_NOFOLLOW, flip_index=2),), flags=2),
    Call("open", "open", (_plain(0, flip=os.O_NOFOLLOW, flip_index=1),), flags=1),
    Call("creat", "open", (_plain(0),)),
    Call("openat2", "open", (_at(1, 0),)),
    Call("open_by_handle_at", "number", flags=2),
)

NAMES: tuple[Call, ...] = (
    Call("unlink", paths=(_NOFOLLOW,)),
    Call("unlinkat", paths=(_NOFOLLOW_AT,), flags=2),
    Call("rmdir", paths=(_NOFOLLOW,)),
    Call("rename", paths=(_NOFOLLOW, _plain(1, follow=False))),
    Call("renameat", paths=(_NOFOLLOW_AT, _at(3, 2, follow=False))),
    Call("renameat2", paths=(_NOFOLLOW_AT, _at(3, 2, follow=False)), flags=4),
    Call("link", paths=(_NOFOLLOW, _plain(1, follow=False))),
    Call(
        "linkat",
        paths=(_at(1, 0, follow=False, flip=AT_SYMLINK_FOLLOW, flip_index=4), _at(3, 2, follow=False)),
        flags=4,
    ),
    Call("symlink", paths=(_plain(1, follow=False),)),
    Call("symlinkat", paths=(_at(2, 1, follow=False),)),
    Call("mkdir", paths=(_NOFOLLOW,), flags=1),
    Call("mkdirat", paths=(_NOFOLLOW_AT,), flags=2),
    Call("mknod", paths=(_NOFOLLOW,), flags=1),
    Call("mknodat", paths=(_NOFOLLOW_AT,), flags=2),
)

ATTRIBUTES: tuple[Call, ...] = (
    Call("chmod", paths=(_plain(0),), flags=1),
    Call("fchmodat", paths=(_at(1, 0),), flags=2),
    Call("fchmodat2", paths=(_at(1, 0, flip=AT_SYMLINK_NOFOLLOW, flip_index=3),), flags=2),
    Call("fchmod", "descriptor", flags=1),
    Call("chown", paths=(_plain(0),)),
    Call("lchown", paths=(_NOFOLLOW,)),
    Call("fchownat", paths=(_at(1, 0, flip=AT_SYMLINK_NOFOLLOW, flip_index=4),)),
    Call("fchown", "descriptor"),
    Call("truncate", paths=(_plain(0),)),
    Call("ftruncate", "descriptor"),
    Call("fallocate", "descriptor", flags=1),
    Call("setxattr", paths=(_plain(0),)),
    Call("lsetxattr", paths=(_NOFOLLOW,)),
    Call("fsetxattr", "descriptor"),
    Call("setxattrat", paths=(_AT_PATH,)),
    Call("removexattr", paths=(_plain(0),)),
    Call("lremovexattr", paths=(_NOFOLLOW,)),
    Call("fremovexattr", "descriptor"),
    Call("removexattrat", paths=(_AT_PATH,)),
    Call("file_setattr", paths=(_at(1, 0, flip=AT_SYMLINK_NOFOLLOW, flip_index=4),)),
)
"""Times (utimensat …) are left out: they are part of no state that is compared."""

_AF_VSOCK = 40
_NO_SIGNAL = Asked(1, (0,), among=False)
_URGENT = 23
"""SIGURG does nothing by default, and Go's runtime sends it to its own threads all the time."""
_WRITING_TRACES = (0, 4, 5, 6, 13, 15, 16, 0x4205, 0x4206)
"""ptrace: TRACEME, POKETEXT, POKEDATA, POKEUSER, SETREGS, SETFPREGS, ATTACH, SETREGSET, SEIZE."""

PROCESSES: tuple[Call, ...] = (
    Call("execve", "exec", (_plain(0),), argument=1),
    Call("execveat", "exec", (_at(1, 0, flip=AT_SYMLINK_NOFOLLOW, flip_index=4),), argument=2),
    Call("exit_group", "exit"),
    Call("exit", "thread"),
    Call("kill", "signal", asked=_NO_SIGNAL),
    Call("tkill", "signal", asked=Asked(1, (0, _URGENT), among=False)),
    Call("tgkill", "signal", asked=Asked(2, (0, _URGENT), among=False)),
    Call("pidfd_send_signal", "signal", asked=_NO_SIGNAL),
    Call("rt_sigqueueinfo", "signal", asked=_NO_SIGNAL),
    Call("rt_tgsigqueueinfo", "signal", asked=Asked(2, (0, _URGENT), among=False)),
    Call("ptrace", "process", flags=0, argument=1, asked=Asked(0, _WRITING_TRACES)),
    Call("process_vm_writev", "process"),
    Call("connect", "address", argument=1),
    Call("sendto", "address", argument=4, pointed=4),
    Call("sendmsg", "message", argument=1),
    Call("sendmmsg", "message", argument=1),
    Call("bind", "address", argument=1),
)

MOUNTS: tuple[Call, ...] = (
    Call("mount", "mount", (_plain(0), _plain(1)), flags=3),
    Call("umount2", paths=(_plain(0, flip=8, flip_index=1),), flags=1),
    Call(
        "move_mount",
        paths=(_at(1, 0, follow=False, flip=1, flip_index=4), _at(3, 2, follow=False, flip=0x10, flip_index=4)),
        flags=4,
    ),
    Call("open_tree", paths=(_AT_PATH,), flags=2),
    Call("open_tree_attr", paths=(_AT_PATH,), flags=2),
    Call("mount_setattr", paths=(_AT_PATH,), flags=2),
    Call("fsopen", "text", flags=1),
    Call("fsconfig", "text", flags=1, argument=2),
    Call("fsmount", "number", flags=1),
    Call("pivot_root", paths=(_plain(0), _plain(1)), moves_root=True),
    Call("chroot", paths=(_plain(0),), moves_root=True),
    Call("unshare", "number", flags=0, moves_root=True),
    Call("setns", "number", flags=1, moves_root=True),
)

_PR_SET_SECCOMP = 22

DOORS: tuple[Call, ...] = (
    Call("seccomp", "number", flags=1, argument=0, asked=Asked(0, (0, 1))),
    Call("prctl", "number", flags=1, argument=0, asked=Asked(0, (_PR_SET_SECCOMP,))),
    Call("io_uring_setup", "refused"),
    # A socket to the host of a virtual machine: the network namespace does not bound it.
    Call("socket", "refused", asked=Asked(0, (_AF_VSOCK,))),
)
"""What would lead round the filter, or puts another one before it."""

CALLS: tuple[Call, ...] = (*OPENS, *PROCESSES, *NAMES, *ATTRIBUTES, *MOUNTS, *DOORS)
"""The filter asks in this order, so what is frequent stands first."""

ARCHITECTURES: Mapping[str, int] = {"x86_64": 0xC000003E}
"""AUDIT_ARCH_… of the machines on which the channel has been executed; a machine without one has no kernel channel."""


def calls_of(machine: str) -> dict[int, Call]:
    """The audited calls that `machine` has, by number."""
    numbers = NUMBERS[machine]
    return {numbers[call.name]: call for call in CALLS if call.name in numbers}


def calls() -> Mapping[int, Call] | None:
    """The audited calls of this machine by number, or None when the channel has never been executed on its kind."""
    machine = platform.machine()
    return calls_of(machine) if machine in ARCHITECTURES else None


def explain_absence() -> str:
    """Why this machine has no kernel channel."""
    machine = platform.machine()
    if machine in NUMBERS:
        return f"the channel has never been executed on {machine}: its table of system calls stands, checked by headers"
    return f"no table of system calls for this machine ({machine})"
