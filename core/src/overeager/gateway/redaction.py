"""Secrets taken out by value, in whole records and in passing streams."""

from __future__ import annotations

import json
from collections.abc import Iterable

REDACTED = b"<redacted>"


def redact(data: bytes, secrets: Iterable[str]) -> bytes:
    """`data` without any of `secrets`, as they stand or as JSON writes them."""
    for secret in secrets:
        for form in _forms(secret):
            data = data.replace(form, REDACTED)
    return data


def _forms(secret: str) -> tuple[bytes, ...]:
    plain = secret.encode()
    escaped = json.dumps(secret)[1:-1].encode()
    return (plain,) if escaped == plain else (plain, escaped)


class StreamRedactor:
    """Takes one secret out of a stream; bytes that cannot belong to it pass at once and unchanged."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """What may go out; the start of a possible secret at the end is held back."""
        data = (self._held + chunk).replace(self._secret, REDACTED)
        keep = self._overlap(data)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def flush(self) -> bytes:
        """What was held back, at the stream's end."""
        held, self._held = self._held, b""
        return held

    def _overlap(self, data: bytes) -> int:
        longest = min(len(data), len(self._secret) - 1)
        return next((size for size in range(longest, 0, -1) if data.endswith(self._secret[:size])), 0)
