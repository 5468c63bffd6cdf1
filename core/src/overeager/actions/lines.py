"""Members of JSON Lines, read as far as they go."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from pydantic_core import from_json

Json: TypeAlias = Mapping[str, Any]


IsIdle: TypeAlias = Callable[[bytes], bool]
"""Whether a line, asked for in order, is a record that tells nothing to anybody."""


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


class Members(Mapping[str, bytes]):
    """The members of a bundle, each decoded once however many ask for its lines."""

    def __init__(self, members: Mapping[str, bytes], idle: Mapping[str, IsIdle] = MappingProxyType({})) -> None:
        self._members = members
        self._idle = idle
        self._lines: dict[str, Lines] = {}

    def lines(self, name: str) -> Lines:
        """The records of the member, as `read_lines` gives them."""
        if name not in self._lines:
            self._lines[name] = read_lines(self._members.get(name), self._idle.get(name))
        return self._lines[name]

    def __getitem__(self, name: str) -> bytes:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def read_lines(data: bytes | None, is_idle: IsIdle | None = None) -> Lines:
    """The records before the end line; a line that is no JSON object makes the member not whole.

    Records that `is_idle` knows by their bytes are counted, and left out.
    """
    if data is None:
        return ABSENT
    records: list[Line] = []
    broken, end, idle = False, None, 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line:
            continue
        if is_idle is not None and end is None and is_idle(line):
            idle += 1
            continue
        record = _decode(line)
        if record is None or end is not None:
            broken = True
        elif len(record) == 1 and "end" in record:
            end = record["end"]
        else:
            records.append(Line(number, record))
    return Lines(tuple(records), not broken and end == len(records) + idle and not isinstance(end, bool))


def _decode(line: bytes) -> dict[str, Any] | None:
    try:
        value = from_json(line)
    except ValueError:  # the quick decoder is the stricter one: what it refuses may still be read
        value = _decode_oddity(line)
    return value if isinstance(value, dict) else None


def _decode_oddity(line: bytes) -> object:
    """Text that is no UTF-8, half a surrogate pair, deep nesting."""
    try:
        return json.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None


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
