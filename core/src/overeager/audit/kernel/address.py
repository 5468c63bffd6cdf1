"""Socket addresses in the memory of a process that waits for our answer, in words."""

from __future__ import annotations

import os
import socket
import struct

from overeager.audit.kernel.memory import Memory

_MOST_ADDRESS = 128
_MESSAGE = struct.Struct("=QI")
"""The start of a msghdr: where its address stands, and its size."""
_MANY = 64
"""Bytes from one mmsghdr to the next."""
_MOST_MESSAGES = 1024
"""More the kernel takes of nobody."""
_MOST_TOLD = 16


def read_address(data: bytes) -> str:
    """A socket address in words: `127.0.0.1:8080`, `[::1]:53`, `unix:/run/x`, `unix:@name`, `af16`."""
    family = int.from_bytes(data[:2], "little")
    if family == socket.AF_INET and len(data) >= 8:
        return f"{socket.inet_ntop(socket.AF_INET, data[4:8])}:{_port(data)}"
    if family == socket.AF_INET6 and len(data) >= 24:
        return f"[{socket.inet_ntop(socket.AF_INET6, data[8:24])}]:{_port(data)}"
    if family == socket.AF_UNIX:
        name = data[2:]
        text = b"@" + name[1:].rstrip(b"\0") if name[:1] == b"\0" else name.split(b"\0", 1)[0]
        return "unix:" + os.fsdecode(text)
    return f"af{family}"


def fetch_address(memory: Memory, address: int, size: int) -> str:
    """The address of `size` bytes that stands at `address`."""
    bounded = min(size & 0xFFFFFFFF, _MOST_ADDRESS)
    return read_address(memory.read(bounded, address) if bounded else b"")


def fetch_message(memory: Memory, header: int) -> list[str]:
    """The address, as a list of one, that the msghdr at `header` carries; empty = it has none."""
    name, size = _MESSAGE.unpack(memory.read_whole(_MESSAGE.size, header))
    return [fetch_address(memory, name, size)] if name and size else []


def fetch_messages(memory: Memory, headers: int, count: int) -> list[str]:
    """The different addresses, a bounded number of them, in an array of mmsghdr."""
    found: dict[str, None] = {}
    for place in range(min(count & 0xFFFFFFFF, _MOST_MESSAGES)):
        found.update(dict.fromkeys(fetch_message(memory, headers + place * _MANY)))
        if len(found) >= _MOST_TOLD:
            break
    return list(found)


def _port(data: bytes) -> int:
    return int.from_bytes(data[2:4], "big")
