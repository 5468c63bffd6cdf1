"""The stream between a command that is stood in for and whoever answers for it: frames, as shim.c has them too."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path
from typing import NamedTuple

from overeager.audit.meeting import open_meeting

MEETING = "/run/systemd/journal/stdout"
"""Where such a command finds us inside; such a socket lies there on real machines."""
MEETING_NAME = "stdout"
"""The same in `Room.run`."""
FORMS = ("cc", "zig")
"""The forms of the program that can ask; the shell script cannot."""

_FRAME = struct.Struct("<II")
_ENTRY = struct.Struct("<QqHB")
_BACKLOG = 1024
_END = b"z"
_CREDENTIALS = struct.Struct("=iII")

HEAD_SIZE = _FRAME.size
MOST_BODY = 1 << 22
"""Bytes of one frame; shim.c takes less than that at once, but for what it only prints."""


class Head(NamedTuple):
    """What stands before a frame's body."""

    kind: bytes
    """c = the call, as in its datagram, e = its environment, d = data, z = end of data; and to the command: 1, 2 =
    print, r = read a file, or its input where the path is empty, i = a line of its input, l = list a folder, w = write,
    x = become, q = leave."""
    error: int
    """The errno that ended the data, 0 = none."""
    size: int


def open_desk(path: Path) -> socket.socket:
    """A stream socket at `path` to which every user may connect."""
    desk = open_meeting(socket.SOCK_STREAM, path)
    desk.listen(_BACKLOG)
    return desk


def peer(connection: socket.socket) -> int:
    """The pid of whoever connected, in our numbers, as the kernel vouches for it."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(data)[0])


def encode(kind: bytes, body: bytes = b"") -> bytes:
    """One frame."""
    return _FRAME.pack(kind[0], len(body)) + body


def decode_head(data: bytes) -> Head | None:
    """The head, or None for what no command sends."""
    word, size = _FRAME.unpack(data)
    kind, error = bytes([word & 0xFF]), word >> 8
    if kind not in (b"c", b"e", b"d", _END) or size > MOST_BODY or (error and kind != _END):
        return None
    return Head(kind, error, size)


def decode_environment(body: bytes) -> dict[str, str]:
    """The variables; the first of a name counts, as for getenv."""
    found: dict[str, str] = {}
    for word in body.split(b"\0"):
        name, equals, value = os.fsdecode(word).partition("=")
        if equals:
            found.setdefault(name, value)
    return found


def decode_folder(data: bytes) -> tuple[str, ...]:
    """The sorted names in what the system says of a folder (`struct linux_dirent64`), without `.` and `..`."""
    names, at = [], 0
    while at + _ENTRY.size <= len(data):
        _, _, size, _ = _ENTRY.unpack_from(data, at)
        if size < _ENTRY.size:
            break
        names.append(os.fsdecode(data[at + 19 : at + size].split(b"\0")[0]))
        at += size
    return tuple(sorted(name for name in names if name not in (".", "..")))
