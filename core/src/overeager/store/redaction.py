"""Secrets taken out by value, in every form in which they travel."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple
from urllib.parse import quote, quote_plus

MASK = b"[redacted]"
"""Stands where a secret stood; is itself inside a JSON string."""

_CHUNK = 1 << 20


class Redactor(NamedTuple):
    """Takes secrets out."""

    forms: tuple[bytes, ...]
    """Every form of every secret, longest first."""

    def clean(self, data: bytes) -> bytes:
        """`data` with `MASK` for each form of a secret."""
        for form in self.forms:
            data = data.replace(form, MASK)
        return data

    def stream(self, source: IO[bytes]) -> Iterator[bytes]:
        """The cleaned content of `source` in pieces; a secret that lies across two of them is found too."""
        overlap = max(len(self.forms[0]) - 1, 0) if self.forms else 0
        held = b""
        while piece := source.read(_CHUNK):
            held = self.clean(held + piece)
            start = max(len(held) - overlap, 0)
            yield held[:start]
            held = held[start:]
        yield held


def redactor(secrets: Iterable[bytes]) -> Redactor:
    """A redactor of `secrets`, empty ones left out: as they are, in JSON, in a URL, in base64 and hexadecimal."""
    forms = {form for secret in secrets if secret for form in _forms(secret)}
    return Redactor(tuple(sorted(forms, key=lambda form: (-len(form), form))))


def _forms(secret: bytes) -> Iterator[bytes]:
    yield secret
    text = secret.decode("utf-8", "surrogateescape")
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        for escaped in (once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]):
            yield escaped.encode("utf-8", "surrogateescape")
    for quoted in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        yield quoted.encode()
        yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), quoted).encode()
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    yield from _base64_forms(secret)


def _base64_forms(secret: bytes) -> Iterator[bytes]:
    """The characters that depend on the secret alone, for each of the three offsets at which it can begin."""
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + secret)
        whole = encoded[(offset * 8 + 5) // 6 : (offset + len(secret)) * 8 // 6]
        if len(whole) >= 6:  # what is shorter occurs by chance
            yield whole
            yield whole.translate(bytes.maketrans(b"+/", b"-_"))
