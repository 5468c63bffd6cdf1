"""What is packed in bytes that were sent, undone for a search, however it is written; bounded, whatever comes."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from overeager.actions.encodings import unquote

MOST = 16 << 20
"""Bytes that all that is packed in one message may come to: a few kilobytes may be a bomb."""

_DEPTH = 4
"""Packings in packings that are undone, save the last: what comes out of that is not looked into."""
_TRIES = 1 << 14
"""Places in one message at which something packed may begin, and codings in it."""
_SHORTEST = 32
"""Digits of base64 below which nothing packed holds a secret."""
_INNER = 1 << 20
"""Bytes of an unpacked text in which more is looked for; what comes to more, of the few that are kept, is no file."""
_PIECE = 1 << 16
_RAW, _ZLIB, _GZIP = -15, 15, 31

_BEGIN = re.compile(
    rb"(?P<gzip>\x1f\x8b\x08[\x00-\x1f])|(?P<zip>PK\x03\x04)|(?P<zlib>\x78[\x01\x5e\x9c\xda])|(?P<closed>"
    rb"\x28\xb5\x2f\xfd|\xfd7zXZ\x00|BZh[1-9](?:1AY&SY|\x17rE8P\x90)|7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|\x04\x22\x4d\x18"
    rb"|Salted__|age-encryption\.org/v|-----BEGIN PGP MESSAGE)"
)
"""How something packed begins. `closed`: zstd, xz, bzip2, 7z, rar, lz4, and what openssl, age and PGP encrypt."""

_SIGNS = (
    *(
        b"\x1f\x8b\x08",
        b"PK\x03\x04",
        b"x\x01",
        b"x^",
        b"x\x9c",
        b"x\xda",
        b"\x28\xb5\x2f\xfd",
        b"\xfd7zXZ",
        b"BZh",
        b"7z\xbc",
    ),
    *(b"Rar!", b"\x04\x22\x4d\x18", b"Salted__", b"age-enc", b"-----BEGIN PGP"),
)
"""Of these one is in all that `_BEGIN` matches; most bytes have none, which is told far sooner."""

_BREAKS = re.compile(rb"\\[rn]")
_BLANKS = bytes.maketrans(b"-_", b"+/")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{16,}(?:\r?\n[A-Za-z0-9+/]+)*")
_HEX = re.compile(rb"(?:[0-9a-fA-F]{2}){8,}(?:\r?\n(?:[0-9a-fA-F]{2})+)*")


class Unpacked(NamedTuple):
    """What came out of a message."""

    texts: tuple[bytes, ...]
    whole: bool
    """False = something in it says that it is packed, and was not undone, or not to its end."""


class _Stream(NamedTuple):
    """A packed stream, as far as it could be undone."""

    text: bytes
    end: int
    """Where it ends in the data; -1 = it is no such stream, or broken."""
    full: bool
    """Whether it has more than there was room for."""


def unpack(data: bytes, room: int = MOST) -> Unpacked:
    """All that is packed in `data` by gzip, zlib, deflate or zip, also in base64, hexadecimal or percent-encoding, and
    what is packed in that; `room` bytes at most."""
    search = _Search(room)
    search.take(data, _DEPTH)
    return Unpacked(tuple(search.texts), search.whole)


class _Search:
    """One message."""

    def __init__(self, room: int) -> None:
        self._room, self._tries = room, _TRIES
        self.texts: list[bytes] = []
        self.whole = True

    def take(self, data: bytes, depth: int) -> None:
        """Undo what begins in `data`, and in the codings that stand in it."""
        for layer in _layers(data):
            self._tries -= 1
            bare = _inflate(layer, 0, _RAW, self._room)
            if bare.full or bare.end == len(layer):  # without a header only the fit to the last byte tells
                self._keep(bare, depth)
            at = 0 if any(sign in layer for sign in _SIGNS) else len(layer)
            while self._tries > 0 and (found := _BEGIN.search(layer, at)):
                self._tries -= 1
                at = self._open(layer, found, depth)
            if self._tries <= 0:
                self.whole = False
                return

    def _open(self, data: bytes, found: re.Match[bytes], depth: int) -> int:
        """Undo what begins at `found`; where to go on."""
        begin = _begin(data, found)
        if begin is None:
            self.whole = False
            return found.end()
        stream = _inflate(data, *begin, self._room)
        self._keep(stream, depth)
        # Two bytes stand anywhere by chance: only the longer signs claim something.
        self.whole &= stream.end >= 0 or found.lastgroup == "zlib"
        return max(stream.end, found.end())

    def _keep(self, stream: _Stream, depth: int) -> None:
        self.whole &= not stream.full
        self._room -= len(stream.text)
        if stream.text:
            self.texts.append(stream.text)
            if depth > 1 and len(stream.text) <= _INNER:
                self.take(stream.text, depth - 1)
            else:
                self.whole = False


def _begin(data: bytes, found: re.Match[bytes]) -> tuple[int, int] | None:
    """Where the stream begins and its window bits; None = it cannot be undone."""
    if found.lastgroup == "zip":
        head = data[found.start() : found.start() + 30]
        if len(head) < 30 or head[6] & 1 or head[8:10] not in (b"\0\0", b"\x08\0"):  # encrypted, or another method
            return None
        begin = found.start() + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        # What is stored lies there to be read; as a stream of nothing it is passed over.
        return (begin, _RAW) if head[8] else (len(data), _RAW)
    return {"gzip": (found.start(), _GZIP), "zlib": (found.start(), _ZLIB)}.get(str(found.lastgroup))


def _inflate(data: bytes, begin: int, bits: int, room: int) -> _Stream:
    """The stream at `begin`, of which no more than `room` bytes are made."""
    inflater, at, text = zlib.decompressobj(wbits=bits), begin, bytearray()
    try:
        while at < len(data) and not inflater.eof:
            piece = data[at : at + _PIECE]
            text += inflater.decompress(piece, max(1, room + 1 - len(text)))
            at += len(piece) - len(inflater.unconsumed_tail) - len(inflater.unused_data)
            if len(text) > room:
                del text[room:]
                return _Stream(bytes(text), len(data), full=True)
    except zlib.error:
        return _Stream(bytes(text), -1, full=False)
    return _Stream(bytes(text), at, full=False)


def _layers(data: bytes) -> Iterator[bytes]:
    """The bytes themselves, and what stands in them in base64, hexadecimal or percent-encoding."""
    yield data
    plain = unquote(_BREAKS.sub(b"\n", data)) if b"%" in data or b"\\" in data else data
    if plain != data:
        yield plain
    for run in _HEX.finditer(plain):
        yield bytes.fromhex(run[0].translate(None, b"\r\n").decode())
    for run in _BASE64.finditer(plain.translate(_BLANKS)):
        digits = run[0].translate(None, b"\r\n")
        for shift in range(
            4 if len(digits) >= _SHORTEST else 0
        ):  # what stands before it may be letters too: a path, a name
            yield base64.b64decode(digits[shift : shift + (len(digits) - shift) // 4 * 4] + _rest(digits[shift:]))


def _rest(digits: bytes) -> bytes:
    """The last, not full group of four, filled up."""
    last = digits[len(digits) // 4 * 4 :]
    return last + b"=" * (4 - len(last)) if len(last) > 1 else b""
