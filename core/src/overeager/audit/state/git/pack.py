"""Git's packs, read without git: where an object lies, and what a small one holds."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

OBJECT_LIMIT = 1 << 20
"""Bytes of the largest object that is unpacked; commits are far smaller."""

CHAIN_LIMIT = 4096
"""Deltas upon deltas that are followed (git's own most)."""

_MAGIC = b"\xfftOc"
_COMMIT, _OFFSET_DELTA, _ID_DELTA = 1, 6, 7
_FAR = 0x8000_0000
_SLACK = 1024
"""Bytes that a zlib stream may be longer than what it holds, beside its stored blocks' heads."""


class PackIndex:
    """A `.idx` file of version 1 or 2; raises ValueError when it is none."""

    def __init__(self, data: bytes, hash_size: int = 20) -> None:
        self._data, self._size = data, hash_size
        self._version = 2 if data[:4] == _MAGIC else 1
        start = 8 if self._version == 2 else 0
        if len(data) < start + 1024 + 2 * hash_size:
            raise ValueError("a pack's index is cut short")
        self._fan = struct.unpack_from(">256I", data, start)
        self._ids_at = start + 1024
        self.count: int = self._fan[255]
        width = hash_size + 8 if self._version == 2 else hash_size + 4
        if list(self._fan) != sorted(self._fan) or len(data) < self._ids_at + self.count * width + 2 * hash_size:
            raise ValueError("a pack's index is damaged")

    def ids(self) -> Iterator[bytes]:
        """Every object's id, sorted."""
        return (self._id(at) for at in range(self.count))

    def offset(self, object_id: bytes) -> int | None:
        """Where the object lies in the pack; None when it does not."""
        low, high = (self._fan[object_id[0] - 1] if object_id[0] else 0), self._fan[object_id[0]]
        while low < high:
            middle = (low + high) // 2
            found = self._id(middle)
            if found == object_id:
                return self._offset(middle)
            low, high = (middle + 1, high) if found < object_id else (low, middle)
        return None

    def _id(self, at: int) -> bytes:
        width, skip = (self._size, 0) if self._version == 2 else (self._size + 4, 4)
        start = self._ids_at + at * width + skip
        return self._data[start : start + self._size]

    def _offset(self, at: int) -> int | None:
        if self._version == 1:
            return int(struct.unpack_from(">I", self._data, self._ids_at + at * (self._size + 4))[0])
        offsets_at = self._ids_at + self.count * (self._size + 4)
        (near,) = struct.unpack_from(">I", self._data, offsets_at + at * 4)
        if near < _FAR:
            return int(near)
        far_at = offsets_at + self.count * 4 + (near - _FAR) * 8
        return int(struct.unpack_from(">Q", self._data, far_at)[0]) if far_at + 8 <= len(self._data) else None


class Piece(NamedTuple):
    """One object as it lies in a pack."""

    type: int
    base: int | bytes | None
    """Of a delta: its base's offset or id."""
    data: bytes


def read_commit(pack: bytes, index: PackIndex, offset: int, hash_size: int = 20) -> bytes | None:
    """The commit at `offset`; None when what lies there is another kind of object, or too big, or damaged."""
    deltas: list[bytes] = []
    for _ in range(CHAIN_LIMIT):
        piece = _read_piece(pack, offset, hash_size)
        if piece is None:
            return None
        if piece.base is None:
            return _apply_all(piece.data, deltas) if piece.type == _COMMIT else None
        deltas.append(piece.data)
        base = index.offset(piece.base) if isinstance(piece.base, bytes) else piece.base
        if base is None:
            return None
        offset = base
    return None


def inflate(data: bytes, limit: int) -> bytes | None:
    """What a zlib stream holds; None when it is damaged or holds more than `limit` bytes."""
    stream = zlib.decompressobj()
    try:
        whole = stream.decompress(data, limit)
    except zlib.error:
        return None
    return whole if stream.eof else None


def _read_piece(pack: bytes, offset: int, hash_size: int) -> Piece | None:
    try:
        kind, size, at = _read_head(pack, offset)
        base: int | bytes | None = None
        if kind == _OFFSET_DELTA:
            back, at = _read_back(pack, at)
            base = offset - back
            if back <= 0 or base <= 0:
                return None
        elif kind == _ID_DELTA:
            base, at = pack[at : at + hash_size], at + hash_size
    except IndexError:
        return None
    if size > OBJECT_LIMIT:
        return None
    data = inflate(pack[at : at + size + size // 512 + _SLACK], size + 1)
    return Piece(kind, base, data) if data is not None and len(data) == size else None


def _read_head(pack: bytes, at: int) -> tuple[int, int, int]:
    byte = pack[at]
    kind, size, shift = byte >> 4 & 7, byte & 15, 4
    while byte & 0x80:
        at += 1
        byte = pack[at]
        size |= (byte & 0x7F) << shift
        shift += 7
        if shift > 70:
            raise IndexError
    return kind, size, at + 1


def _read_back(pack: bytes, at: int) -> tuple[int, int]:
    byte = pack[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = pack[at]
        value = (value + 1 << 7) | byte & 0x7F
        if value > len(pack):
            raise IndexError
    return value, at + 1


def _apply_all(base: bytes, deltas: list[bytes]) -> bytes | None:
    whole: bytes | None = base
    for delta in reversed(deltas):
        whole = None if whole is None else _apply(whole, delta)
    return whole


def _apply(base: bytes, delta: bytes) -> bytes | None:
    """`base` changed by `delta`; None when the delta is damaged or makes too much."""
    try:
        size, at = _read_size(delta, 0)
        wanted, at = _read_size(delta, at)
        if size != len(base) or wanted > OBJECT_LIMIT:
            return None
        made = bytearray()
        while at < len(delta) and len(made) <= wanted:
            part, at = _read_part(base, delta, at)
            made += part
    except IndexError:
        return None
    return bytes(made) if len(made) == wanted else None


def _read_size(delta: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = delta[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
        if shift > 70:
            raise IndexError


def _read_part(base: bytes, delta: bytes, at: int) -> tuple[bytes, int]:
    """What one instruction of a delta copies from the base or brings along."""
    code = delta[at]
    at += 1
    if not code & 0x80:
        if code == 0:
            raise IndexError
        return delta[at : at + code], at + code
    offset = size = 0
    for bit in range(4):
        if code & 1 << bit:
            offset |= delta[at] << 8 * bit
            at += 1
    for bit in range(3):
        if code & 16 << bit:
            size |= delta[at] << 8 * bit
            at += 1
    return base[offset : offset + (size or 0x10000)], at
