"""What a shim says of one call: the datagram of the C form, the line of the sh form, and their reading."""

from __future__ import annotations

import struct
from typing import NamedTuple

# mark, cut, time in ns, pid, ppid, sid, number of arguments, bytes of name, of cwd, of arguments; then those three.
_HEAD = struct.Struct("<IIQiiiIHHI")
_MARK = 0x0001A55A
# Each followed by NUL: mark, pid, ppid, cut, cwd, number of arguments, arguments.
_TEXT_MARK = b"@"
_TEXT_FIELDS = 6
_DIGITS = 10
_NANOSECONDS = 1_000_000_000


class ShimRecord(NamedTuple):
    """One call of a shimmed command, as the shim itself tells it; bytes that are not UTF-8 are surrogate escapes."""

    time: float | None
    """Seconds of CLOCK_MONOTONIC; None = the form has no clock."""
    pid: int
    """Inside, like the two below; the host's pid is the socket's business."""
    ppid: int
    sid: int | None
    """None = the form cannot tell."""
    command: str
    """What was executed, by the file; `python3` where that is a link to `python3.11`."""
    cwd: str | None
    """None = the folder is gone."""
    argv: tuple[str, ...]
    """As given; in the sh form argv[0] is the file's path, since sh does not learn the given one."""
    cut: int
    """How many arguments were left out at the end."""


def decode(datagram: bytes) -> ShimRecord | None:
    """The call that `datagram` tells of, or None when it is no whole record; never raises."""
    if datagram.startswith(_TEXT_MARK + b"\0"):
        return _decode_text(datagram)
    return _decode_binary(datagram)


def split(stream: bytes) -> tuple[list[bytes], bytes]:
    """The whole sh records in `stream`, each fit for `decode`, and the unfinished rest; garbage is dropped."""
    *words, rest = stream.split(b"\0")
    records: list[bytes] = []
    while _TEXT_MARK in words:
        words = words[words.index(_TEXT_MARK) :]
        size = _text_size(words)
        if size > len(words):
            return records, b"\0".join([*words, rest])
        records.append(b"\0".join([*words[:size], b""]))
        words = words[size:]
    return records, rest


def _decode_binary(datagram: bytes) -> ShimRecord | None:
    if len(datagram) < _HEAD.size:
        return None
    mark, cut, time, pid, ppid, sid, count, name_size, cwd_size, size = _HEAD.unpack_from(datagram)
    if mark != _MARK or len(datagram) != _HEAD.size + name_size + cwd_size + size:
        return None
    cwd_at = _HEAD.size + name_size
    *argv, rest = datagram[cwd_at + cwd_size :].split(b"\0")
    if rest or len(argv) != count:
        return None
    cwd = _text(datagram[cwd_at : cwd_at + cwd_size]) or None
    name = _text(datagram[_HEAD.size : cwd_at])
    return ShimRecord(time / _NANOSECONDS, pid, ppid, sid, name, cwd, tuple(map(_text, argv)), cut)


def _decode_text(data: bytes) -> ShimRecord | None:
    *words, rest = data.split(b"\0")
    if rest or len(words) <= _TEXT_FIELDS or len(words) != _text_size(words):
        return None
    pid, ppid, cut, cwd, _, *argv = words[1:]
    if not all(map(_is_number, (pid, ppid, cut))):
        return None
    command = _text(argv[0].rpartition(b"/")[2])
    return ShimRecord(None, int(pid), int(ppid), None, command, _text(cwd) or None, tuple(map(_text, argv)), int(cut))


def _text_size(words: list[bytes]) -> int:
    """How many words the record that begins with `words[0]` has; at least one more than its fields."""
    count = words[_TEXT_FIELDS - 1] if len(words) >= _TEXT_FIELDS else b""
    return _TEXT_FIELDS + (int(count) if _is_number(count) else 1)


def _is_number(word: bytes) -> bool:
    return word.isdigit() and len(word) < _DIGITS


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
