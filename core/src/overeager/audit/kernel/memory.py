"""Reading the memory of a process that waits for our answer."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

PAGE = 4096
PATH_MAX = 4096
_FIRST_BITE = 256
"""Most paths are short; one small read fetches them."""
_POINTER = struct.Struct("=Q")
_POINTERS_AT_ONCE = 512
"""Bytes; most argvs are short."""
_MOST_POINTERS = 1 << 16
"""Pieces; more than any argv that the kernel takes."""
_NR_PROCESS_VM_READV = 310
_LEAST_ADDRESS = 1 << 12
"""Below it nothing can be mapped (vm.mmap_min_addr is a page or more)."""
_MOST_ADDRESS = 1 << 56
"""Where no processor's user space reaches."""


class _Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class Gone(OSError):
    """The address space that was held is no more: its process has ended, and its number may be another's now."""


class Unreadable(OSError):
    """Nothing could be read at `address`, though the address space is there."""

    def __init__(self, number: int, address: int) -> None:
        super().__init__(number, "unreadable")
        self.address = address

    @property
    def nonsense(self) -> bool:
        """Whether no process can have anything there, so that the call that was given it must fail.

        Any other address may lie in memory that its process can read and we cannot (memfd_secret), or that one of its
        threads maps while the call waits.
        """
        return not _LEAST_ADDRESS <= self.address < _MOST_ADDRESS


class Words(NamedTuple):
    """An argv, perhaps cut."""

    words: list[str]
    cut: int
    """Words that were left out or shortened."""


class Memory:
    """The memory of thread `thread`: its file under /proc or, where that may not be opened (a process that hides
    itself from an ordinary user), process_vm_readv."""

    __slots__ = ("_libc", "descriptor", "thread")

    def __init__(self, thread: int, libc: Any) -> None:
        self.thread = thread
        self._libc = libc
        try:
            self.descriptor = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.descriptor = -1

    def close(self) -> None:
        """Give the descriptor back."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def read(self, size: int, address: int) -> bytes:
        """Up to `size` bytes at `address`; raises OSError where nothing can be read, Gone when it has ended."""
        if self.descriptor >= 0:
            try:
                data = os.pread(self.descriptor, size, address)
            except OverflowError as error:
                raise Unreadable(errno.EFAULT, address) from error
            except OSError as error:
                raise Unreadable(error.errno or errno.EIO, address) from error
            if not data:
                raise Gone(errno.ESRCH, "no such address space")
            return data
        return self._read_by_call(size, address)

    def read_whole(self, size: int, address: int) -> bytes:
        """All `size` bytes at `address`."""
        data = self.read(size, address)
        if len(data) < size:
            raise Unreadable(errno.EFAULT, address + len(data))
        return data

    def check(self) -> None:
        """Raise Gone when the address space is no more, as far as that can be told."""
        if self.descriptor >= 0:
            with contextlib.suppress(Unreadable):
                self.read(1, PAGE)

    def _read_by_call(self, size: int, address: int) -> bytes:
        buffer = ctypes.create_string_buffer(size)
        here, there = _Span(ctypes.addressof(buffer), size), _Span(address, size)
        # The sixth argument travels on the stack, where a plain int would leave four bytes of rubbish beside it.
        flags = ctypes.c_ulong(0)
        spans = (ctypes.byref(here), 1, ctypes.byref(there), 1)
        count = self._libc.syscall(_NR_PROCESS_VM_READV, self.thread, *spans, flags)
        if count < 0:
            raise Unreadable(ctypes.get_errno(), address)
        return buffer.raw[:count]

    def read_string(self, address: int, limit: int = PATH_MAX) -> bytes:
        """The string at `address`, never reading past the page in which it ends; at most `limit` bytes."""
        size = PAGE - (address & (PAGE - 1))
        data = self.read(size if size < _FIRST_BITE else _FIRST_BITE, address)
        end = data.find(b"\0")
        return data[:end] if end >= 0 else self._read_on(data, address, limit)

    def _read_on(self, data: bytes, address: int, limit: int) -> bytes:
        while len(data) < limit:
            at = address + len(data)
            more = self.read(PAGE - (at & (PAGE - 1)), at)
            end = more.find(b"\0")
            if end >= 0:
                return (data + more[:end])[:limit]
            if not more:
                break
            data += more
        return data[:limit]

    def read_number(self, address: int) -> int:
        """The 64-bit number at `address`."""
        return int(_POINTER.unpack(self.read_whole(8, address))[0])

    def read_words(self, address: int, count: int = 4096, room: int = 1 << 17) -> Words:
        """The NULL-ended array of strings at `address`: at most `count` words and `room` bytes.

        `cut` counts the words that were left out or shortened.
        """
        words: list[str] = []
        cut = 0
        for pointer in self._pointers(address):
            if room <= 0 or len(words) >= count:
                cut += 1
                continue
            word = self.read_string(pointer, room)
            room -= len(word) + 1
            cut += room <= 0
            words.append(os.fsdecode(word))
        return Words(words, cut)

    def _pointers(self, address: int) -> Iterator[int]:
        """The pointers at `address` up to NULL, read in pieces of which none reaches over a page's end."""
        for _ in range(_MOST_POINTERS):
            size = min(_POINTERS_AT_ONCE, PAGE - (address & (PAGE - 1))) & ~7 or 8
            data = self.read(size, address) if address else b""
            if len(data) < 8:
                return
            for (pointer,) in _POINTER.iter_unpack(data[: len(data) & ~7]):
                if not pointer:
                    return
                yield pointer
            address += len(data) & ~7
