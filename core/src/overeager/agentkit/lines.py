"""Raw streams as lines of JSON objects; whatever else stands in them is kept as unreadable."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from overeager.contract.agent import JsonObject
from overeager.model.action import Pointer

_SPACE = re.compile(r"\s*")


class Line(NamedTuple):
    """One object of a stream, or one stretch that is none."""

    source: Pointer
    value: JsonObject | None
    """None = unreadable."""
    raw: str
    """The text of an unreadable stretch."""

    @property
    def type(self) -> str:
        """The object's own word for what it is; empty when it has none."""
        return text_of((self.value or {}).get("type"))


def read_lines(member: str, data: bytes) -> Iterator[Line]:
    """Every object of a stream in order, each pointing at its line of `member` (the stream's name); never raises.

    Lines end at `\\n` alone: U+2028 and `\\r` may stand in them. Empty ones are left out.
    """
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield from _read_line(Pointer(member=member, line=number), line)


def _read_line(source: Pointer, line: bytes) -> Iterator[Line]:
    """The objects of one line: mostly one, several where a newline was lost, the rest unreadable."""
    text = line.decode("utf-8", "surrogateescape").strip()
    at = 0
    while at < len(text):
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):  # no JSON, an integer or a nesting beyond all bounds
            value, end = None, len(text)
        if not isinstance(value, dict):
            yield Line(source, None, _clean(text[at:]))
            return
        yield Line(source, value, "")
        space = _SPACE.match(text, end)
        at = space.end() if space else end


def text_of(value: object) -> str:
    """A string value, lone surrogates in it written out as `\\udcff`; anything else is the empty string."""
    return _clean(value) if isinstance(value, str) else ""


def object_of(value: object) -> Mapping[str, Any]:
    """An object value; anything else is the empty object."""
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list; anything else is left out."""
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
