"""The processes that are watched: what is known of each, held open while it lives."""

# ruff: noqa: PTH115  # bytes, and thousands of times a second: no Path for each link that is read

from __future__ import annotations

import ctypes
import os
import re
from typing import Any, NamedTuple

from overeager.audit.memory import Memory
from overeager.audit.resolve import Real, Resolver, describe

AT_FDCWD = -100
_NR_PIDFD_GETFD = 438
_MOST_OPEN = 200
"""Threads whose descriptors are kept; two descriptors each."""
_MOST_KNOWN = 1 << 14
"""Processes that are remembered as seen; those that a signal ends are never told of."""
_OWN_PROC = re.compile(rb"/proc/(?:self|thread-self)(?:/(cwd|root|fd/\d+))?(?=/|$)")
_OWN_STREAM = re.compile(rb"/dev/(?:stdin|stdout|stderr|fd/\d+)$")


class Status(NamedTuple):
    """Lines of /proc/PID/status, in the host's numbers."""

    comm: str
    process: int
    parent: int
    session: int
    inner: int
    """The process's number in its own namespace."""


def read_status(thread: int) -> Status:
    """The status of `thread`; raises OSError when it is gone."""
    with open(f"/proc/{thread}/status", "rb", buffering=0) as file:
        text = file.read(4096)
    fields = dict(line.split(b":\t", 1) for line in text.split(b"\n") if b":\t" in line)
    return Status(
        os.fsdecode(fields[b"Name"]),
        int(fields[b"Tgid"]),
        int(fields[b"PPid"]),
        int(fields[b"NSsid"].split()[0]),
        int(fields[b"NStgid"].split()[-1]),
    )


class Target:
    """One watched thread."""

    __slots__ = ("inner", "memory", "process", "root", "root_path", "thread", "working_folder")

    def __init__(self, thread: int, libc: Any) -> None:
        status = read_status(thread)
        self.thread = thread
        self.process = status.process
        self.inner = status.inner
        self.memory: Memory | None = Memory(thread, libc)
        self.root = -1
        self.root_path = b"/"
        self.working_folder = b"/proc/%d/cwd" % thread

    def open_root(self) -> int:
        """A descriptor of its root directory, opened once."""
        if self.root < 0:
            link = b"/proc/%d/root" % self.thread
            self.root = os.open(link, os.O_PATH | os.O_CLOEXEC)
            self.root_path = os.readlink(link)
        return self.root

    def forget_memory(self) -> None:
        """Its address space is about to be replaced."""
        if self.memory is not None:
            self.memory.close()
            self.memory = None

    def forget_root(self) -> None:
        """Its root is about to change."""
        if self.root >= 0:
            os.close(self.root)
            self.root = -1

    def close(self) -> None:
        """Give all descriptors back."""
        self.forget_memory()
        self.forget_root()


class Targets:
    """The watched threads, by the kernel's number; a bounded number of them is held open."""

    def __init__(self, libc: Any) -> None:
        self._libc = libc
        self._resolver = Resolver(libc)
        self._open: dict[int, Target] = {}
        self._known: dict[int, int] = {}

    def get(self, thread: int) -> Target:
        """What is known of `thread`; raises OSError when it is gone."""
        target = self._open.get(thread)
        if target is None:
            if len(self._open) >= _MOST_OPEN:
                self._close_oldest(_MOST_OPEN // 4)
            target = self._open[thread] = Target(thread, self._libc)
        return target

    def memory(self, target: Target) -> Memory:
        """Its memory as it is now."""
        if target.memory is None:
            target.memory = Memory(target.thread, self._libc)
        return target.memory

    def process_of(self, thread: int) -> int:
        """The process of `thread` as far as it is known, else its own number."""
        target = self._open.get(thread)
        return thread if target is None else target.process

    def find_inner(self, pid: int) -> int:
        """The process that has the number `pid` in its own namespace, as far as it has been seen; else 0."""
        inner = (target.process for target in self._open.values() if target.inner == pid)
        return next(inner, 0)

    def is_new(self, target: Target) -> bool:
        """True the first time that its process is asked for; a number that is used again is another process when its
        number inside is another."""
        process = target.process
        if self._known.get(process) == target.inner:
            return False
        if len(self._known) >= _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[process] = target.inner
        return True

    def renew(self, thread: int) -> None:
        """What was known of `thread` is of a process that has ended."""
        target = self._open.pop(thread)
        self._known.pop(target.process, None)
        target.close()

    def forget_thread(self, thread: int) -> None:
        """One thread is about to end; its number may come back in another process."""
        target = self._open.pop(thread, None)
        if target is not None:
            target.close()

    def replace_image(self, target: Target) -> None:
        """`target` enters an exec: the memory that is held is the old one, also of the leader whose number it takes."""
        target.forget_memory()
        leader = self._open.get(target.process)
        if leader is not None:
            leader.forget_memory()

    def forget(self, target: Target) -> None:
        """`target`'s process is about to end."""
        self._known.pop(target.process, None)
        for thread in {target.thread, target.process}:
            known = self._open.pop(thread, None)
            if known is not None:
                known.close()

    def forget_roots(self) -> None:
        """Somebody changes what paths mean."""
        for target in self._open.values():
            target.forget_root()

    def close(self) -> None:
        """Give all descriptors back."""
        self._close_oldest(len(self._open))

    def _close_oldest(self, count: int) -> None:
        for thread in list(self._open)[:count]:
            self._open.pop(thread).close()

    def full_path(self, target: Target, path: bytes, base: int) -> bytes:
        """`path` made absolute by the directory descriptor `base` of `target`."""
        if path[:1] == b"/":
            return path
        folder = self._folder(target, base)
        target.open_root()
        if target.root_path != b"/" and folder.startswith(target.root_path):
            # Links of /proc are told from the top of the mount namespace, which a chroot hides from the process.
            folder = folder[len(target.root_path) :] or b"/"
        return folder.rstrip(b"/") + b"/" + path if path else folder

    def _folder(self, target: Target, base: int) -> bytes:
        if base == AT_FDCWD:
            return os.readlink(target.working_folder)
        try:
            return os.readlink(b"/proc/%d/fd/%d" % (target.thread, base))
        except PermissionError:
            return self.describe(target, base).path or b""

    def exists(self, target: Target, path: bytes) -> bool:
        """Whether the absolute `path` leads to something for `target`."""
        return self._resolver.exists(target.open_root(), path)

    def resolve(self, target: Target, path: bytes, follow: bool) -> Real:
        """Where the absolute `path` leads for `target`."""
        if path[:6] == b"/proc/":
            path = _OWN_PROC.sub(lambda match: self._own(target, match[1]), path, count=1)
        elif _OWN_STREAM.match(path):
            return Real(path, True, None)
        return self._resolver.resolve(target.open_root(), path, follow)

    def _own(self, target: Target, magic: bytes | None) -> bytes:
        """The kernel's magic links mean *our* process when we follow them, so they are put in words."""
        own = b"/proc/%d" % target.inner
        if magic is None:
            return own
        try:
            text = os.readlink(b"/proc/%d/%b" % (target.thread, magic))
        except OSError:
            return own + b"/" + magic
        return text if text[:1] == b"/" else own + b"/" + magic

    def describe(self, target: Target, descriptor: int) -> Real:
        """What the open `descriptor` of `target` stands for."""
        process = os.pidfd_open(target.process)
        try:
            ours = self._libc.syscall(_NR_PIDFD_GETFD, process, descriptor, 0)
            if ours < 0:
                raise OSError(ctypes.get_errno(), "pidfd_getfd")
            try:
                return describe(ours)
            finally:
                os.close(ours)
        finally:
            os.close(process)
