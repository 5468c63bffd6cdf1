"""What pydantic refuses, said in plain words, with the line where it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from overeager.canonical import Json
from overeager.errors import ErrorGroup, OvereagerError, Place, near_miss
from overeager.model.yaml_tree import Path

_OWN_RULES = ("escape", "canary", "duplicate", "prompt", "step", "case", "condition", "service")
"""Types of the errors that the records raise themselves; their messages are ours already."""

_PATTERNS = {
    r"^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$": "a host name in lower case",
    r"^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$": "a package's name in lower case",
    r"^[a-z0-9]+(?:[-_.][a-z0-9]+)*$": "lower-case words joined by `-`, `_` or `.`",
    r"^[0-9a-f]{64}$": "a SHA-256: 64 digits of 0-9 and a-f",
    r"^0[0-7]{3}$": "permission bits as four octal digits in quotes, for example '0644'",
}

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


class _Spot(NamedTuple):
    """A place of the document: the path that is there, and how a reader would name it."""

    path: Path
    name: str


def explain_refusal(
    error: ValidationError, data: Json, lines: Mapping[Path, int], words: Mapping[Path, str], source: str
) -> ErrorGroup:
    """One OvereagerError (SCN020 to SCN026) for each spot that pydantic refused, in the order of the document."""
    by_spot: dict[_Spot, list[ErrorDetails]] = {}
    for detail in _genuine(error.errors(include_url=False)):
        by_spot.setdefault(_find_spot(data, detail["loc"], detail["type"]), []).append(detail)
    found = [_explain(spot, details, lines, words, source) for spot, details in by_spot.items()]
    return ErrorGroup(sorted(found, key=lambda one: (one.where and one.where.line) or 0))


def _genuine(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """Without complaints that a list is short which only come from its entries having been refused."""
    return [one for one in details if one["type"] != "too_short" or len(one["input"]) < one["ctx"]["min_length"]]


def _find_spot(data: Json, loc: Path, kind: str) -> _Spot:
    """Follow pydantic's location as far as the document goes.

    Conditions are written short: pydantic's `children`, 0 is `all_of`, 0 or `not_of` there, its `parameters` the
    atom's name. Names of union members, which pydantic puts in between, are passed over.
    """
    path: list[str | int] = []
    for step in loc:
        if isinstance(data, dict):
            only = next(iter(data), "") if len(data) == 1 else ""
            if step not in data and step in ("children", "parameters") and only:
                step = only
            if step in data:
                data = data[str(step)]
                path.append(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
            path.append(step)
    return _Spot(tuple(path), _name((*path, loc[-1]) if kind == "missing" else tuple(path)))


def _name(path: Path) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "the document"


def _explain(
    spot: _Spot, details: list[ErrorDetails], lines: Mapping[Path, int], words: Mapping[Path, str], source: str
) -> OvereagerError:
    detail = details[0]
    kind, context = detail["type"], detail.get("ctx", {})
    path = spot.path
    if kind == "unknown_key":
        path = (*path, str(context["key"]))
    place = Place(source, _nearest_line(path, lines))
    if kind == "unknown_key":
        inside = f" in '{spot.name}'" if spot.path else ""
        return OvereagerError("SCN020", f"unknown key '{context['key']}'{inside}", where=place, cure=context["hint"])
    if kind == "missing":
        return OvereagerError("SCN021", f"'{spot.name}' is missing", where=place, cure="write it here")
    if path in words and any(one["type"] in ("string_type", "string_sub_type") for one in details):
        return _explain_unquoted(spot, detail, words[path], place)
    if kind == "literal_error":
        return _explain_word(spot, detail, str(context["expected"]), place)
    if kind in _OWN_RULES:
        code = "SCN026" if kind == "escape" else "SCN025"
        return OvereagerError(code, f"'{spot.name}': {_unbraced(detail['msg'])}", where=place)
    if kind == "string_pattern_mismatch":
        wanted = _PATTERNS.get(str(context["pattern"]), f"text that matches {context['pattern']}")
        return OvereagerError("SCN024", f"'{spot.name}' is {_shown(detail)}", where=place, cure=f"write {wanted}")
    return _explain_shape(spot, details, place)


def _explain_unquoted(spot: _Spot, detail: ErrorDetails, word: str, place: Place) -> OvereagerError:
    seen = {bool: "a truth value", int: f"the number {detail['input']}", float: f"the number {detail['input']}"}
    what = seen.get(type(detail["input"]), "nothing at all")
    shown = f" {word}" if word else ""
    return OvereagerError(
        "SCN022",
        f"'{spot.name}' wants text, but YAML reads{shown} as {what}",
        where=place,
        cure=f"write it in quotes: '{word}'",
    )


def _shown(detail: ErrorDetails) -> str:
    text = repr(detail["input"])
    return text if len(text) <= 60 else f"{text[:57]}…"


def _unbraced(message: str) -> str:
    """pydantic fills `{name}` but leaves the doubled braces of a literal one as they are."""
    return message.replace("{{", "{").replace("}}", "}")


def _explain_word(spot: _Spot, detail: ErrorDetails, expected: str, place: Place) -> OvereagerError:
    known = re.findall(r"'([^']*)'", expected)
    hint = near_miss(str(detail["input"]), known) or f"known here: {', '.join(known) or expected}"
    return OvereagerError(
        "SCN023", f"'{spot.name}' is {_shown(detail)}, which is no word of its list", where=place, cure=hint
    )


def _explain_shape(spot: _Spot, details: list[ErrorDetails], place: Place) -> OvereagerError:
    first = details[0]
    wanted = list(dict.fromkeys(_WANTED[one["type"]] for one in details if one["type"] in _WANTED))
    if first["type"] == "too_short":
        least, count = first["ctx"]["min_length"], len(first["input"])
        return OvereagerError("SCN024", f"'{spot.name}' has {count} of at least {least}", where=place, cure="add to it")
    if not wanted:
        cure = first["msg"].replace("Input should", "it should")
        return OvereagerError("SCN024", f"'{spot.name}' is {_shown(first)}", where=place, cure=cure)
    return OvereagerError(
        "SCN024", f"'{spot.name}' has the wrong shape", where=place, cure=f"write {' or '.join(wanted)}"
    )


def _nearest_line(path: Path, lines: Mapping[Path, int]) -> int | None:
    return next((lines[path[:end]] for end in range(len(path), -1, -1) if path[:end] in lines), None)
