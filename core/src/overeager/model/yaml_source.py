"""YAML that people write, read into plain data and records, with the line of every part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

import yaml
from pydantic import ValidationError

from overeager.canonical import Json
from overeager.errors import OvereagerError, Place
from overeager.model.record import Record
from overeager.model.refusal import explain_refusal
from overeager.model.yaml_tree import Path, TreeReader, too_deep

MAX_CHARACTERS = 4 << 20
"""Length of one document."""
R = TypeVar("R", bound=Record)


class Sourced(NamedTuple):
    """A document's plain data, and where each part of it stands."""

    data: Json
    lines: Mapping[Path, int]
    """1-based line of each key and list entry; what lies below an alias has the alias's line."""
    words: Mapping[Path, str]
    """As written: each plain scalar that YAML reads as a number, a truth value or nothing."""


def read_yaml(text: str | bytes, source: str) -> Sourced:
    """The one document in `text`; raises OvereagerError SCN001 to SCN012 with `source` and line."""
    reader = TreeReader(source)
    for event in _events(_checked_text(text, source), source):
        reader.take(event)
    return Sourced(reader.root, reader.lines, reader.words)


def load_record(model: type[R], text: str | bytes, source: str) -> R:
    """The `model` that `text` holds; raises what `read_yaml` raises, or an ErrorGroup of SCN020 to SCN026."""
    sourced = read_yaml(text, source)
    try:
        return model.model_validate(sourced.data)
    except ValidationError as error:
        raise explain_refusal(error, sourced.data, sourced.lines, sourced.words, source) from error


_LOADER: type[yaml.CSafeLoader] | type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Without U+0085, U+2028 and U+2029 too: YAML 1.1 takes them for line ends, so text would come out changed.
_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _checked_text(text: str | bytes, source: str) -> str:
    if isinstance(text, bytes):
        text = _decoded(text, source)
    if len(text) > MAX_CHARACTERS:
        raise OvereagerError(
            "SCN006", f"{len(text)} characters are more than {MAX_CHARACTERS}", where=source, cure="split the file"
        )
    if odd := _NOT_PRINTABLE.search(text):
        line = text.count("\n", 0, odd.start()) + 1
        raise OvereagerError(
            "SCN002",
            f"the character U+{ord(odd[0]):04X} has no place in YAML",
            where=Place(source, line),
            cure='write it as an escape in double quotes, for example "\\0"',
        )
    return text


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = Place(source, data.count(b"\n", 0, error.start) + 1)
        raise OvereagerError("SCN002", "this is not UTF-8 text", where=place, cure="save the file as UTF-8") from error


def _events(text: str, source: str) -> Iterator[yaml.Event]:
    loader = _LOADER(text)
    try:
        while (event := loader.get_event()) is not None:
            yield event
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, source) from error
    finally:
        loader.dispose()


def _syntax_error(error: yaml.MarkedYAMLError, source: str) -> OvereagerError:
    mark = error.problem_mark or error.context_mark
    place = Place(source, mark.line + 1 if mark else None)
    if error.problem and "nesting depth" in error.problem:
        return too_deep(place)
    what = ", ".join(part for part in (error.problem, error.context) if part)
    cure = (
        "indent with spaces, never tabs; text that holds `: ` or ` #`, or begins with a mark such as `*`, `&`, "
        "`@`, `%` or `{`, needs quotes; long text is best as a block (`|`)"
    )
    return OvereagerError("SCN001", f"this is not YAML: {what}", where=place, cure=cure)
