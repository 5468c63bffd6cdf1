"""What the stand-ins share: states read and changed as values, tables, identifiers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence

from overeager.canonical import Json
from overeager.contract.stand_in import Attributes, State

_FIELD = re.compile(r"\{\{\s*(json\s+)?\.?([\w.]*)\s*\}\}")


def objects(state: State, kind: str) -> Mapping[str, Attributes]:
    """The objects of a collection, in the state's order."""
    return state.get(kind, {})


def text(attributes: Attributes, key: str, default: str = "") -> str:
    """An attribute as text."""
    value = attributes.get(key, default)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else default if value is None else json.dumps(value)


def number(attributes: Attributes, key: str, default: int = 0) -> int:
    """An attribute as a whole number."""
    value = attributes.get(key, default)
    return int(value) if isinstance(value, int | float) else default


def texts(attributes: Attributes, key: str) -> tuple[str, ...]:
    """An attribute that is a list, as texts; one text alone is a list of one."""
    value = attributes.get(key)
    if isinstance(value, str):
        return (value,)
    return (
        tuple(part if isinstance(part, str) else json.dumps(part) for part in value) if isinstance(value, list) else ()
    )


def pairs(attributes: Attributes, key: str) -> dict[str, str]:
    """An attribute that is a mapping, as texts."""
    value = attributes.get(key)
    if not isinstance(value, dict):
        return {}
    return {name: part if isinstance(part, str) else json.dumps(part) for name, part in value.items()}


def put(state: State, kind: str, name: str, /, **attributes: Json) -> State:
    """The state with an object that has these attributes beside those that it keeps."""
    found = objects(state, kind)
    return {**state, kind: {**found, name: {**found.get(name, {}), **attributes}}}


def drop(state: State, kind: str, names: Iterable[str]) -> State:
    """The state without these objects."""
    gone = set(names)
    return {**state, kind: {name: value for name, value in objects(state, kind).items() if name not in gone}}


def identify(*parts: str) -> str:
    """64 hexadecimal digits that are always the same for the same thing."""
    return hashlib.sha256("/".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def table(head: Sequence[str], rows: Iterable[Sequence[str]], gap: int = 3, headless: bool = False) -> str:
    """Columns of equal width, as docker, kubectl and their like print them; the last is not padded."""
    lines = [*([] if headless else [tuple(head)]), *map(tuple, rows)]
    if not lines:
        return ""
    widths = [max(len(line[at]) for line in lines) + gap for at in range(len(lines[0]))]
    return "".join(_line(line, widths) + "\n" for line in lines)


def _line(line: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(line[:-1], widths, strict=False))
    return "".join(padded) + (line[-1] if line else "")


def dump(value: Json) -> str:
    """JSON with four spaces, as these programs print it."""
    return json.dumps(value, indent=4) + "\n"


def fill_template(template: str, fields: Mapping[str, Json]) -> str:
    """A Go template whose parts are plain fields; one that is not there is `<no value>`."""

    def value(match: re.Match[str]) -> str:
        found: Json = dict(fields)
        for part in filter(None, match[2].split(".")):
            found = found.get(part, "<no value>") if isinstance(found, dict) else "<no value>"
        return json.dumps(found) if match[1] or not isinstance(found, str) else found

    return _FIELD.sub(value, template).replace("\\t", "\t").replace("\\n", "\n")


def agrees(stdin: bytes, *words: str) -> bool:
    """Whether the first line of an input is one of `words`, whatever its case."""
    return stdin.decode("utf-8", "replace").partition("\n")[0].strip().lower() in words
