"""Git's index, versions 2 to 4, read without git: what is staged, and none of the stat data beside it."""

from __future__ import annotations

import struct
from typing import NamedTuple

_HEAD = struct.Struct(">4sII")
_ENTRY_LIMIT = 500_000
_NAMES_LIMIT = 64 << 20
_STAT, _MODE_AT = 40, 24
_ASSUMED, _EXTENDED, _LENGTH = 0x8000, 0x4000, 0x0FFF
_SKIPPED, _INTENDED = 0x4000, 0x2000
_UNREAD_EXTENSIONS = frozenset({b"link"})


class Staged(NamedTuple):
    """One entry of the index."""

    stage: int
    """0; 1 to 3 while a merge conflicts."""
    mode: int
    """Type and permission, as git keeps them."""
    id: str
    """Of the blob."""
    intended: bool
    """True = `git add -N`: nothing of its content is staged yet."""
    flags: tuple[str, ...]
    """assume-unchanged, skip-worktree."""


Index = dict[str, tuple[Staged, ...]]


def read_index(data: bytes, hash_size: int = 20) -> Index:
    """The entries by path, stages in order; raises ValueError for what is no whole index."""
    try:
        return _read(data, hash_size)
    except (struct.error, IndexError) as error:
        raise ValueError("the index is cut short") from error


def _read(data: bytes, hash_size: int) -> Index:
    magic, version, count = _HEAD.unpack_from(data)
    if magic != b"DIRC" or version not in (2, 3, 4) or count > _ENTRY_LIMIT:
        raise ValueError("no index of a known version and size")
    found: dict[str, list[Staged]] = {}
    at, name, room = _HEAD.size, b"", _NAMES_LIMIT
    for _ in range(count):
        staged, start = _read_entry(data, at, hash_size)
        if version == 4:
            name, at = _read_packed_name(data, start, name)
        else:
            name, at = _read_name(data, at, start)
        room -= len(name)
        if room < 0:
            raise ValueError("the names are longer than an index can be")
        found.setdefault(name.decode("utf-8", "surrogateescape"), []).append(staged)
    _check_extensions(data, at, hash_size)
    return {path: tuple(sorted(entries)) for path, entries in found.items()}


def _read_entry(data: bytes, at: int, hash_size: int) -> tuple[Staged, int]:
    """The entry at `at` without its name, and where the name starts."""
    (mode,) = struct.unpack_from(">I", data, at + _MODE_AT)
    end = at + _STAT + hash_size
    (flags,) = struct.unpack_from(">H", data, end)
    more = struct.unpack_from(">H", data, end + 2)[0] if flags & _EXTENDED else 0
    marks = (("assume-unchanged", flags & _ASSUMED), ("skip-worktree", more & _SKIPPED))
    staged = Staged(
        stage=flags >> 12 & 3,
        mode=mode,
        id=data[at + _STAT : end].hex(),
        intended=bool(more & _INTENDED),
        flags=tuple(word for word, is_set in marks if is_set),
    )
    return staged, end + (4 if flags & _EXTENDED else 2)


def _read_name(data: bytes, at: int, start: int) -> tuple[bytes, int]:
    """A name that ends in NULs up to a multiple of eight bytes."""
    end = data.find(b"\0", start)
    if end < 0:
        raise ValueError("a name has no end")
    return data[start:end], at + (end - at + 8) // 8 * 8


def _read_packed_name(data: bytes, start: int, previous: bytes) -> tuple[bytes, int]:
    """A name told by how many of the previous one's last bytes go and what comes instead."""
    strip, at = _read_offset(data, start)
    end = data.find(b"\0", at)
    if end < 0 or strip > len(previous):
        raise ValueError("a name has no end")
    return previous[: len(previous) - strip] + data[at:end], end + 1


def _read_offset(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = (value + 1 << 7) | byte & 0x7F
        if value >= 1 << 32:
            raise ValueError("a name is stripped of more than there is")
    return value, at + 1


def _check_extensions(data: bytes, at: int, hash_size: int) -> None:
    """A split index keeps most of its entries elsewhere."""
    while at + 8 <= len(data) - hash_size:
        name, size = data[at : at + 4], struct.unpack_from(">I", data, at + 4)[0]
        if name in _UNREAD_EXTENSIONS:
            raise ValueError("the index is split over two files")
        at += 8 + size
