"""Members of JSON Lines, read as far as they go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

Json: TypeAlias = Mapping[str, Any]


class Line(NamedTuple):
    """One record with its 1-based line."""

    number: int
    record: Json


class Lines(NamedTuple):
    """A member's records."""

    records: tuple[Line, ...]
    whole: bool
    """True = the last line says `{"end": COUNT}` with the right count, and every line could be read."""


ABSENT = Lines((), False)


def read_lines(data: bytes | None) -> Lines:
    """The records before the end line; a line that is no JSON object makes the member not whole."""
    if data is None:
        return ABSENT
    records: list[Line] = []
    broken, end = False, None
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line:
            continue
        record = _decode(line)
        if record is None or end is not None:
            broken = True
        elif set(record) == {"end"}:
            end = record["end"]
        else:
            records.append(Line(number, record))
    return Lines(tuple(records), not broken and end == len(records) and not isinstance(end, bool))


def _decode(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text_of(record: Json, key: str) -> str | None:
    """The value when it is a text."""
    value = record.get(key)
    return value if isinstance(value, str) else None


def number_of(record: Json, key: str) -> int | None:
    """The value when it is a whole number."""
    value = record.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def time_of(record: Json) -> float | None:
    """The record's time in seconds, when it has one that is finite and not negative."""
    value = record.get("t")
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12:
        return float(value)
    return None


def texts_of(record: Json, key: str) -> tuple[str, ...]:
    """The texts in a list; anything else in it is left out."""
    value = record.get(key)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
