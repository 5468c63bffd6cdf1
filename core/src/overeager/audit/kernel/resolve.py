"""What a path means to a process: the real path in its own root and the inode behind it."""

# ruff: noqa: PTH115  # bytes, and thousands of times a second: no Path for each link that is read

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from typing import Any, NamedTuple

from overeager.audit.kernel.mounts import mount_number

_NR_OPENAT2 = 437
_RESOLVE_IN_ROOT = 0x10
_HOW = struct.Struct("=QQQ")
_MOST_LINKS = 16
_OWN = b"/proc/self"
_STATFS_SIZE = 256
_PROC_MAGIC = (0x9FA0).to_bytes(4, "little")


class Real(NamedTuple):
    """Where a path leads."""

    path: bytes | None
    """None = not even its folder could be found."""
    found: bool
    inode: str | None
    """`device:inode`."""
    private: str = ""
    """Kind of the file system, where somebody inside made it for himself."""


NOWHERE = Real(None, False, None)


class Resolver:
    """Resolves paths in the root of another process, without ever opening what is there (O_PATH)."""

    def __init__(self, libc: Any) -> None:
        self._libc = libc
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

    def mount_of(self, root: int, real: Real, path: bytes) -> int:
        """The number of the mount in which `path`, which is where `real` lies below `root`, or its folder lies."""
        place = path if real.found else path.rpartition(b"/")[0] or b"/"
        descriptor = self._syscall(_NR_OPENAT2, root, place, self._how[0], _HOW.size)
        if descriptor < 0:
            return -1
        try:
            return mount_number(descriptor)
        finally:
            os.close(descriptor)

    def resolve(self, root: int, path: bytes, follow: bool, own: bytes, links: int = _MOST_LINKS) -> Real:
        """Where the absolute `path` leads below `root` for the process that has the number `own` there; what does not
        exist is its real folder and its name.

        /proc/self and the magic links of /proc mean *our* process to the kernel when we follow them, or are refused
        below another's root, so they are taken step by step.
        """
        if path.startswith(_OWN):
            path = b"/proc/" + own + path[len(_OWN) :] if path[len(_OWN) :][:1] in (b"", b"/") else path
        descriptor = self._syscall(_NR_OPENAT2, root, path, self._how[follow], _HOW.size)
        if descriptor < 0:
            return self._resolve_step(root, path, follow, own, links)
        try:
            status = os.fstat(descriptor)
            return Real(os.readlink(b"/proc/self/fd/%d" % descriptor), True, f"{status.st_dev}:{status.st_ino}")
        finally:
            os.close(descriptor)

    def _resolve_step(self, root: int, path: bytes, follow: bool, own: bytes, links: int) -> Real:
        """By the folder, and then what the name in it is."""
        folder, _, name = path.rstrip(b"/").rpartition(b"/")
        descriptor = self._syscall(_NR_OPENAT2, root, folder or b"/", self._how[1], _HOW.size)
        if descriptor < 0:
            return self._resolve_below(root, folder, name, follow, own, links)
        try:
            real = os.readlink(b"/proc/self/fd/%d" % descriptor)
            text = _read_link(descriptor, name) if follow and links else None
            if follow and links and self._is_proc(descriptor):
                if name in (b"self", b"thread-self"):
                    text = own
                elif text is not None and (found := _jump(descriptor, name)) is not None:
                    return found
        finally:
            os.close(descriptor)
        if text is not None:
            return self.resolve(root, os.path.join(real, text), follow, own, links - 1)
        return Real(real.rstrip(b"/") + b"/" + name, False, None)

    def _resolve_below(self, root: int, folder: bytes, name: bytes, follow: bool, own: bytes, links: int) -> Real:
        """By where the folder leads, when something on the way to it is no ordinary link."""
        if not links or not folder:
            return NOWHERE
        real = self.resolve(root, folder, True, own, links - 1)
        if not real.found or real.path is None:
            return NOWHERE
        return self.resolve(root, real.path.rstrip(b"/") + b"/" + name, follow, own, links - 1)

    def _is_proc(self, descriptor: int) -> bool:
        status = ctypes.create_string_buffer(_STATFS_SIZE)
        return self._libc.fstatfs(descriptor, status) == 0 and status.raw[:4] == _PROC_MAGIC


def _jump(folder: int, name: bytes) -> Real | None:
    """What the magic link `name` in a folder of /proc stands for; None = it may not be followed, or is none."""
    try:
        descriptor = os.open(name, os.O_PATH | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    try:
        return describe(descriptor)
    finally:
        os.close(descriptor)


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
