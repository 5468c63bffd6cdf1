"""Which system calls are audited, by number, and where their arguments hold paths, flags and addresses."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Literal, NamedTuple

AT_SYMLINK_NOFOLLOW = 0x100
AT_SYMLINK_FOLLOW = 0x400

Kind = Literal["path", "open", "descriptor", "exec", "exit", "address", "signal", "root", "thread"]
"""`root`: the call changes what paths mean to the process; it gives no record, only makes us look again;
`thread`: one thread ends, no record either."""


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


class Call(NamedTuple):
    """One audited system call."""

    name: str
    kind: Kind = "path"
    paths: tuple[PathArgument, ...] = ()
    flags: int | None = None
    """Argument that goes into the record: flags of an open, mode of a chmod or mkdir."""
    argument: int = 0
    """Descriptor, argv, address, exit code or pid: what the kind is about."""


def _at(path: int, base: int, *, follow: bool = True, flip: int = 0, flip_index: int = 0) -> PathArgument:
    return PathArgument(path, base, follow, flip, flip_index)


def _plain(path: int, *, follow: bool = True, flip: int = 0, flip_index: int = 0) -> PathArgument:
    return PathArgument(path, None, follow, flip, flip_index)


_NOFOLLOW = _plain(0, follow=False)
_NOFOLLOW_AT = _at(1, 0, follow=False)

OPENS: Mapping[int, Call] = {
    2: Call("open", "open", (_plain(0, flip=os.O_NOFOLLOW, flip_index=1),), flags=1),
    257: Call("openat", "open", (_at(1, 0, flip=os.O_NOFOLLOW, flip_index=2),), flags=2),
    85: Call("creat", "open", (_plain(0),)),
    437: Call("openat2", "open", (_at(1, 0),)),
}

NAMES: Mapping[int, Call] = {
    87: Call("unlink", paths=(_NOFOLLOW,)),
    263: Call("unlinkat", paths=(_NOFOLLOW_AT,), flags=2),
    84: Call("rmdir", paths=(_NOFOLLOW,)),
    82: Call("rename", paths=(_NOFOLLOW, _plain(1, follow=False))),
    264: Call("renameat", paths=(_NOFOLLOW_AT, _at(3, 2, follow=False))),
    316: Call("renameat2", paths=(_NOFOLLOW_AT, _at(3, 2, follow=False)), flags=4),
    86: Call("link", paths=(_NOFOLLOW, _plain(1, follow=False))),
    265: Call(
        "linkat",
        paths=(_at(1, 0, follow=False, flip=AT_SYMLINK_FOLLOW, flip_index=4), _at(3, 2, follow=False)),
        flags=4,
    ),
    88: Call("symlink", paths=(_plain(1, follow=False),)),
    266: Call("symlinkat", paths=(_at(2, 1, follow=False),)),
    83: Call("mkdir", paths=(_NOFOLLOW,), flags=1),
    258: Call("mkdirat", paths=(_NOFOLLOW_AT,), flags=2),
    133: Call("mknod", paths=(_NOFOLLOW,), flags=1),
    259: Call("mknodat", paths=(_NOFOLLOW_AT,), flags=2),
}

ATTRIBUTES: Mapping[int, Call] = {
    90: Call("chmod", paths=(_plain(0),), flags=1),
    268: Call("fchmodat", paths=(_at(1, 0),), flags=2),
    452: Call("fchmodat2", paths=(_at(1, 0, flip=AT_SYMLINK_NOFOLLOW, flip_index=3),), flags=2),
    91: Call("fchmod", "descriptor", flags=1),
    92: Call("chown", paths=(_plain(0),)),
    94: Call("lchown", paths=(_NOFOLLOW,)),
    260: Call("fchownat", paths=(_at(1, 0, flip=AT_SYMLINK_NOFOLLOW, flip_index=4),)),
    93: Call("fchown", "descriptor"),
    76: Call("truncate", paths=(_plain(0),)),
    77: Call("ftruncate", "descriptor"),
    188: Call("setxattr", paths=(_plain(0),)),
    189: Call("lsetxattr", paths=(_NOFOLLOW,)),
    190: Call("fsetxattr", "descriptor"),
    197: Call("removexattr", paths=(_plain(0),)),
    198: Call("lremovexattr", paths=(_NOFOLLOW,)),
    199: Call("fremovexattr", "descriptor"),
}

PROCESSES: Mapping[int, Call] = {
    59: Call("execve", "exec", (_plain(0),), argument=1),
    322: Call("execveat", "exec", (_at(1, 0, flip=AT_SYMLINK_NOFOLLOW, flip_index=4),), argument=2),
    231: Call("exit_group", "exit"),
    60: Call("exit", "thread"),
    62: Call("kill", "signal"),
    42: Call("connect", "address", argument=1),
    44: Call("sendto", "address", argument=4),
}

ROOTS: Mapping[int, Call] = {
    155: Call("pivot_root", "root"),
    161: Call("chroot", "root"),
    272: Call("unshare", "root"),
    308: Call("setns", "root"),
}

_TABLES: Mapping[str, Mapping[int, Call]] = {"x86_64": {**OPENS, **NAMES, **ATTRIBUTES, **PROCESSES, **ROOTS}}

ARCHITECTURES: Mapping[str, int] = {"x86_64": 0xC000003E}
"""AUDIT_ARCH_… by machine; a machine without a table has no kernel channel yet."""


def calls() -> Mapping[int, Call] | None:
    """The audited calls of this machine by number, or None when there is no table for it."""
    return _TABLES.get(platform.machine())
