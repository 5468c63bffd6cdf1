"""JSON Lines of a bundle's members, as docs/formats/members.md has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False).encode
"""Made once: `json.dumps` makes an encoder for each call, which costs as much as the encoding."""


def dump_line(record: Mapping[str, object]) -> bytes:
    """One record as a line of UTF-8; bytes that were no text (surrogate escapes) appear as `\\udcXX`."""
    return _encode(record).encode("utf-8", "backslashreplace") + b"\n"


def dump_member(records: Iterable[Mapping[str, object]]) -> bytes:
    """A whole member: the records, then the line that says how many there are."""
    return join_member(map(dump_line, records))


def join_member(lines: Iterable[bytes]) -> bytes:
    """A whole member of lines that are made already."""
    held = list(lines)
    return b"".join([*held, dump_line({"end": len(held)})])
