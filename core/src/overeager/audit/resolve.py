"""What a path means to a process: the real path in its own root and the inode behind it."""

# ruff: noqa: PTH115  # bytes, and thousands of times a second: no Path for each link that is read

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from typing import Any, NamedTuple

_NR_OPENAT2 = 437
_RESOLVE_IN_ROOT = 0x10
_HOW = struct.Struct("=QQQ")
_MOST_LINKS = 16


class Real(NamedTuple):
    """Where a path leads."""

    path: bytes | None
    """None = not even its folder could be found."""
    found: bool
    inode: str | None
    """`device:inode`."""


NOWHERE = Real(None, False, None)


class Resolver:
    """Resolves paths in the root of another process, without ever opening what is there (O_PATH)."""

    def __init__(self, libc: Any) -> None:
        self._syscall = libc.syscall
        flags = os.O_PATH | os.O_CLOEXEC
        self._buffers = [
            ctypes.create_string_buffer(_HOW.pack(f, 0, _RESOLVE_IN_ROOT)) for f in (flags | os.O_NOFOLLOW, flags)
        ]
        self._how = [ctypes.c_void_p(ctypes.addressof(buffer)) for buffer in self._buffers]

    def exists(self, root: int, path: bytes) -> bool:
        """Whether `path` leads to something below `root`."""
        descriptor = self._syscall(_NR_OPENAT2, root, path, self._how[1], _HOW.size)
        if descriptor < 0:
            return ctypes.get_errno() not in (errno.ENOENT, errno.ENOTDIR)
        os.close(descriptor)
        return True

    def resolve(self, root: int, path: bytes, follow: bool, links: int = _MOST_LINKS) -> Real:
        """Where the absolute `path` leads below `root`; what does not exist is its real folder and its name."""
        descriptor = self._syscall(_NR_OPENAT2, root, path, self._how[follow], _HOW.size)
        if descriptor < 0:
            return self._resolve_missing(root, path, follow, links)
        try:
            status = os.fstat(descriptor)
            return Real(os.readlink(b"/proc/self/fd/%d" % descriptor), True, f"{status.st_dev}:{status.st_ino}")
        finally:
            os.close(descriptor)

    def _resolve_missing(self, root: int, path: bytes, follow: bool, links: int) -> Real:
        folder, _, name = path.rstrip(b"/").rpartition(b"/")
        descriptor = self._syscall(_NR_OPENAT2, root, folder or b"/", self._how[1], _HOW.size)
        if descriptor < 0:
            return NOWHERE
        try:
            real = os.readlink(b"/proc/self/fd/%d" % descriptor)
            text = _read_link(descriptor, name) if follow and links else None
        finally:
            os.close(descriptor)
        if text is not None:
            return self.resolve(root, os.path.join(real, text), follow, links - 1)
        return Real(real.rstrip(b"/") + b"/" + name, False, None)


def _read_link(folder: int, name: bytes) -> bytes | None:
    """The text of the dangling link `name`, None when it is none."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None


def describe(descriptor: int) -> Real:
    """What an open descriptor of ours stands for; `path` is None for what is no file."""
    path = os.readlink(b"/proc/self/fd/%d" % descriptor)
    status = os.fstat(descriptor)
    known = path.startswith(b"/") and (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode))
    return Real(path if known else None, True, f"{status.st_dev}:{status.st_ino}")
