"""What callers send, taken in piece by piece: measured, digested, searched, and kept in part."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from typing import NamedTuple

from overeager.actions.encodings import Needles, find_encoded, needles_of

KEPT = 64 << 10
"""Bytes of what is sent that the record keeps."""
READ = 1 << 20
"""Bytes of a body that a service gets to read."""
_UNPACKED = 64 << 20
"""Bytes that a packed body may come to before it is left packed: what is sent may be a bomb."""
_WINDOW = 4096
"""Bytes that are searched again with the next piece; every needle is shorter by far."""


class Taken(NamedTuple):
    """What was sent."""

    size: int = 0
    """Bytes, as they came."""
    sha256: str = hashlib.sha256(b"").hexdigest()
    """Of the bytes as they came."""
    plain: bytes = b""
    """The first `KEPT` bytes, unpacked where they came packed."""
    cut: int = 0
    """Unpacked bytes that are not in `plain`; they were searched all the same."""
    sensitive: tuple[tuple[str, str], ...] = ()
    """Path of each sensitive file whose canary is in it, with how it is written."""
    error: str = ""


class Watchlist:
    """The canaries that are looked for in everything."""

    def __init__(self, canaries: Mapping[str, str]) -> None:
        """`canaries` are the canaries of the sensitive files, by path."""
        self.needles: Mapping[str, Needles] = {path: needles_of(text) for path, text in sorted(canaries.items())}

    def take(self, data: bytes) -> Taken:
        """`data` as something sent at once."""
        intake = Intake(self)
        intake.feed(data)
        return intake.close()


class Intake:
    """One body, or the bytes of one connection; memory stays bounded whatever comes."""

    def __init__(self, watchlist: Watchlist, packing: str = "", room: int = KEPT) -> None:
        """`packing` is the content coding (gzip, deflate) or empty, `room` how many unpacked bytes `head` may hold."""
        self._room = room
        self._needles = watchlist.needles
        self._unpacker = _unpacker(packing)
        self._digest = hashlib.sha256()
        self._size = 0
        self._plain_size = 0
        self._head = bytearray()
        self._tail = b""
        self._found: dict[str, str] = {}
        self._error = ""

    @property
    def head(self) -> bytes:
        """The first bytes, unpacked: what a service reads."""
        return bytes(self._head)

    @property
    def whole(self) -> bool:
        """Whether `head` is all of it."""
        return self._plain_size == len(self._head) and not self._error

    def feed(self, data: bytes) -> None:
        """Take in the next piece."""
        self._size += len(data)
        self._digest.update(data)
        if self._unpacker is None:
            self._keep(data)
        while self._unpacker is not None and data:
            data = self._unpack(data)

    def close(self) -> Taken:
        """All that was taken in."""
        plain = bytes(self._head[:KEPT])
        cut = self._plain_size - len(plain)
        return Taken(self._size, self._digest.hexdigest(), plain, cut, tuple(self._found.items()), self._error)

    def _unpack(self, data: bytes) -> bytes:
        """Unpack a bounded piece; the bytes that are left."""
        assert self._unpacker is not None
        try:
            plain = self._unpacker.decompress(data, 1 << 20)
        except zlib.error:
            return self._leave_packed(data, "not packed as it says")
        self._keep(plain)
        if self._plain_size > _UNPACKED:
            return self._leave_packed(b"", "too large when unpacked")
        if self._unpacker.eof:
            return self._leave_packed(self._unpacker.unused_data, "")
        return self._unpacker.unconsumed_tail

    def _leave_packed(self, rest: bytes, error: str) -> bytes:
        self._unpacker = None
        self._error = self._error or error
        self._keep(rest)
        return b""

    def _keep(self, plain: bytes) -> None:
        self._plain_size += len(plain)
        self._head += plain[: max(0, self._room - len(self._head))]
        if self._needles:
            self._search(plain)

    def _search(self, plain: bytes) -> None:
        window = self._tail + plain
        for path, needles in self._needles.items():
            if path not in self._found and (how := find_encoded(window, needles)):
                self._found[path] = how
        self._tail = window[-_WINDOW:]


def _unpacker(packing: str) -> zlib._Decompress | None:
    """For the one coding that clients use; several in a row are left as they are."""
    return zlib.decompressobj(wbits=47) if packing.strip().lower() in ("gzip", "x-gzip", "deflate") else None
