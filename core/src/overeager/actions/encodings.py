"""A secret recognised however it is written: plain, base64, hexadecimal, percent-encoded or escaped as JSON."""

from __future__ import annotations

import base64
import json
import re
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote, quote_plus

_SHORTEST = 8
"""Characters below which what is left of a secret could stand anywhere by chance."""

_BLANKS = bytes.maketrans(b"-_", b"+/")
_ESCAPED_BREAKS = re.compile(rb"\\[rn]")
_PERCENT = re.compile(rb"%([0-9a-fA-F]{2})")


class Needles(NamedTuple):
    """The forms of one secret, made once and looked for often."""

    plain: tuple[bytes, ...]
    base64: tuple[bytes, ...]
    """In the alphabet with + and /, one for each place in a group of three, without what neighbours decide."""
    hex: bytes
    """In lower case."""


def needles_of(secret: str) -> Needles:
    """The forms of `secret`; none for one that is too short to mean anything."""
    data = secret.encode("utf-8", "surrogateescape")
    if len(data) < _SHORTEST:
        return Needles((), (), b"")
    escaped = (json.dumps(secret)[1:-1].encode(), quote(secret, safe="").encode(errors="replace"))
    plain = (data, *escaped, quote_plus(secret).encode(errors="replace"))
    return Needles(tuple(dict.fromkeys(plain)), _base64_forms(data), data.hex().encode())


class Haystack:
    """Bytes in which several secrets are looked for; what undoes a coding is done once, when it is first needed."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def find(self, needles: Needles) -> str | None:
        """How the secret is written: plain, url, base64, hex; None = it is not there."""
        if any(form in self.data for form in needles.plain):
            return "plain"
        if not needles.hex:
            return None
        if b"%" in self.data and any(form in self._unquoted for form in needles.plain):
            return "url"
        if needles.hex in self._hex:
            return "hex"
        return "base64" if any(form in self._base64 for form in needles.base64) else None

    @cached_property
    def _unquoted(self) -> bytes:
        return unquote(self.data)

    def _unbroken(self) -> bytes:
        return _ESCAPED_BREAKS.sub(b"", self.data).translate(None, b"\r\n\t ")

    @cached_property
    def _hex(self) -> bytes:
        return self._unbroken().lower().replace(b":", b"").replace(b"\\x", b"")

    @cached_property
    def _base64(self) -> bytes:
        return unquote(self._unbroken()).translate(_BLANKS)


def find_encoded(data: bytes, needles: Needles) -> str | None:
    """How one secret is written in `data`, as `Haystack.find` has it."""
    return Haystack(data).find(needles)


def unquote(data: bytes) -> bytes:
    """`data` with its percent-encoded bytes undone."""
    return _PERCENT.sub(lambda match: bytes((int(match[1], 16),)), data)


def _base64_forms(data: bytes) -> tuple[bytes, ...]:
    """What stands in the base64 of any text around `data`: the digits that its own bits alone decide."""
    forms = []
    for shift in range(3):
        digits = base64.b64encode(b"\0" * shift + data)
        first = -(-shift * 8 // 6)
        last = (shift + len(data)) * 8 // 6
        forms.append(digits[first:last])
    return tuple(forms)
