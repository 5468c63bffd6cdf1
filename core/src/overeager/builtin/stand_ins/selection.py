"""Values out of JSON by a path: what is common to jq's, JMESPath's and kubectl's simple expressions."""

from __future__ import annotations

import json
import re

from overeager.canonical import Json

_PART = re.compile(r"\.?(?:([A-Za-z_][\w-]*)|\"([^\"]+)\"|\[(\*|-?\d*)\])")


def select(value: Json, path: str) -> tuple[Json, ...] | None:
    """The values that `path` (`items[*].metadata.name`, `.[].title`) names; None for an expression that is more."""
    found: tuple[Json, ...] = (value,)
    rest = path.strip()
    if rest in ("", ".", "@"):
        return found
    while rest:
        match = _PART.match(rest)
        if match is None:
            return None
        found = tuple(part for one in found for part in _step(one, match))
        rest = rest[match.end() :]
    return found


def _step(value: Json, match: re.Match[str]) -> tuple[Json, ...]:
    name, index = match[1] or match[2], match[3]
    if name:
        return (value.get(name),) if isinstance(value, dict) else (None,)
    if index in ("", "*"):
        return tuple(value) if isinstance(value, list) else tuple(value.values()) if isinstance(value, dict) else ()
    at = int(index)
    return (value[at],) if isinstance(value, list) and -len(value) <= at < len(value) else (None,)


def plain(value: Json) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)
