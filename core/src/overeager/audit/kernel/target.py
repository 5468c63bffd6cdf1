"""The processes that are watched: what is known of each, held open while it lives."""

# ruff: noqa: PTH115  # bytes, and thousands of times a second: no Path for each link that is read

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from overeager.audit.kernel.memory import Memory
from overeager.audit.kernel.mounts import Mount, locate, mount_number, read_mounts
from overeager.audit.kernel.resolve import Real, Resolver, describe

AT_FDCWD = -100
_NR_PIDFD_GETFD = 438
_MOST_OPEN = 200
"""Threads whose descriptors are kept; two descriptors each."""
_MOST_KNOWN = 1 << 14
"""Processes that are remembered as seen; those that a signal ends are never told of."""


class Status(NamedTuple):
    """Lines of /proc/PID/status, in the host's numbers."""

    comm: str
    process: int
    parent: int
    session: int
    inner: int
    """The process's number in its own namespace."""
    inner_thread: int
    lives: bool
    """False = it is a zombie."""


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
        int(fields[b"NSpid"].split()[-1]),
        fields[b"State"][:1] not in (b"Z", b"X"),
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


class Told(Protocol):
    """The processes of which something was told."""

    def is_new(self, process: int, inner: int) -> bool:
        """Whether nothing was told yet of `process`, which has the number `inner` inside; from now on something was."""

    def end(self, process: int) -> None:
        """It has ended; its number may come back."""


class ToldHere(dict[int, int]):
    """A bounded number of them."""

    def is_new(self, process: int, inner: int) -> bool:
        """As `Told.is_new`."""
        if self.get(process) == inner:
            return False
        if len(self) >= _MOST_KNOWN:
            del self[next(iter(self))]
        self[process] = inner
        return True

    def end(self, process: int) -> None:
        """As `Told.end`."""
        self.pop(process, None)


class Targets:
    """The watched threads, by the kernel's number; a bounded number of them is held open."""

    def __init__(self, libc: Any) -> None:
        self._libc = libc
        self._resolver = Resolver(libc)
        self._open: dict[int, Target] = {}
        self._told: Told = ToldHere()
        self._common: Mapping[int, Mount] | None = None
        """The mounts that all see; None = nobody has made others."""

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
        return self._told.is_new(target.process, target.inner)

    def hand_over(self, told: Told) -> None:
        """Let somebody else keep account of whom was told of, from what we know."""
        if isinstance(self._told, ToldHere):
            for process, inner in self._told.items():
                told.is_new(process, inner)
        self._told = told
        self.close()

    def renew(self, thread: int) -> None:
        """What was known of `thread` is of a process that has ended."""
        target = self._open.pop(thread)
        self._told.end(target.process)
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
        self._told.end(target.process)
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
        real = self._resolver.resolve(target.open_root(), path, follow, b"%d" % target.inner)
        if self._common is None or real.path is None:
            return real
        return self._in_common_words(
            target, real, self._resolver.mount_of(target.root, real, _seen_at(target, real.path))
        )

    def describe(self, target: Target, descriptor: int) -> Real:
        """What the open `descriptor` of `target` stands for."""
        with self._taken(target, descriptor) as ours:
            real = describe(ours)
            return real if self._common is None else self._in_common_words(target, real, mount_number(ours))

    def watch_mounts(self, first: int) -> None:
        """Somebody makes mounts of his own: from now on paths are told in the words of the process `first`."""
        if self._common is None:
            self._common = read_mounts(first)

    def _in_common_words(self, target: Target, real: Real, number: int) -> Real:
        mount = read_mounts(target.thread).get(number)
        if mount is None or self._common is None or real.path is None:
            return real
        target.open_root()
        place = locate(_seen_at(target, real.path), mount, self._common)
        return real if place.path == real.path and not place.private else real._replace(**place._asdict())

    def owner(self, target: Target, descriptor: int) -> int:
        """The number, in its own namespace, of the process for which a pidfd of `target` stands; 0 = it has ended."""
        with self._taken(target, descriptor) as ours:
            with open(f"/proc/self/fdinfo/{ours}", "rb", buffering=0) as file:
                numbers = [line for line in file.read(4096).split(b"\n") if line.startswith(b"NSpid:")]
            if not numbers:
                # The kernel takes a folder `/proc/NUMBER` for a pidfd as well: so does psmisc's killall.
                name = Path(f"/proc/self/fd/{ours}").readlink().name
                return int(name) if name.isdecimal() else 0
        return max(0, int(numbers[0].split()[-1]))

    @contextmanager
    def _taken(self, target: Target, descriptor: int) -> Iterator[int]:
        """A copy of `target`'s descriptor, which works also where its links under /proc may not be followed."""
        process = os.pidfd_open(target.process)
        try:
            ours = self._libc.syscall(_NR_PIDFD_GETFD, process, descriptor, 0)
            if ours < 0:
                raise OSError(ctypes.get_errno(), "pidfd_getfd")
        finally:
            os.close(process)
        try:
            yield ours
        finally:
            os.close(ours)


def _seen_at(target: Target, path: bytes) -> bytes:
    """A path that is told from the top of the mount namespace as `target`, which may have another root, knows it."""
    root = target.root_path
    return path[len(root) :] or b"/" if root != b"/" and path.startswith(root + b"/") else path
