"""JSON Lines of a bundle's members, as docs/formats/members.md has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping


def dump_line(record: Mapping[str, object]) -> bytes:
    """One record as a line of UTF-8; bytes that were no text (surrogate escapes) appear as `\\udcXX`."""
    text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def dump_member(records: Iterable[Mapping[str, object]]) -> bytes:
    """A whole member: the records, then the line that says how many there are."""
    lines = [dump_line(record) for record in records]
    return b"".join([*lines, dump_line({"end": len(lines)})])
