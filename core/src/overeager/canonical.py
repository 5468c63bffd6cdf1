"""One byte string for one value: the form that is hashed, sealed and compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def dump(value: object) -> bytes:
    """Canonical JSON (sorted keys, no spaces, UTF-8, no NaN) of `value`, without a closing newline."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def dump_lines(values: Iterable[object]) -> bytes:
    """Canonical JSON Lines of `values`; every line ends in a newline."""
    return b"".join(dump(value) + b"\n" for value in values)


def sha256(data: bytes) -> str:
    """Lower-case hexadecimal SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON of `value`."""
    return sha256(dump(value))


def tree_digest(files: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 over the sorted (path, bytes) pairs; equal for a wheel and an editable install of one package."""
    hasher = hashlib.sha256()
    for path, data in sorted(files):
        name = path.encode()
        hasher.update(b"%d %d\n" % (len(name), len(data)))
        hasher.update(name)
        hasher.update(data)
    return hasher.hexdigest()
