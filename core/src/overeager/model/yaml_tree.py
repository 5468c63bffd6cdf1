"""Plain data from YAML parser events, with lines, bounded in depth and size before anything is built."""

from __future__ import annotations

import math
from typing import NamedTuple, NoReturn, TypeAlias

import yaml

from overeager.canonical import Json
from overeager.errors import OvereagerError, Place

Path: TypeAlias = tuple[str | int, ...]
"""Keys and list positions (0-based) from the top of the document."""

MAX_NODES = 100_000
"""Nodes of one document once every alias is written out."""
MAX_DEPTH = 64
"""Lists and mappings inside each other."""

_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = {"null", "bool", "int", "float"}
_TEXT_TAGS = {"str", "timestamp", "value"}
"""A date stays the text that it is; no record holds one."""


def too_deep(place: Place) -> OvereagerError:
    """The refusal of a document that nests too far."""
    return OvereagerError(
        "SCN007", f"lists and mappings lie more than {MAX_DEPTH} deep", where=place, cure="make it flatter"
    )


class _Scalars(yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """YAML 1.1's reading of plain words."""

    def __init__(self) -> None:
        yaml.constructor.SafeConstructor.__init__(self)
        yaml.resolver.Resolver.__init__(self)

    def tag_of(self, word: str) -> str:
        """The tag of an unquoted word."""
        return str(self.resolve(yaml.ScalarNode, word, (True, False)))  # type: ignore[no-untyped-call]  # no stub

    def value_of(self, tag: str, word: str) -> Json:
        """The value of `word` under `tag`; raises ValueError or KeyError."""
        node = yaml.ScalarNode(tag, word)
        match tag.removeprefix(_TAG):
            case "bool":
                return bool(self.construct_yaml_bool(node))
            case "int":
                return int(self.construct_yaml_int(node))
            case "float":
                return float(self.construct_yaml_float(node))
        return None


class _Open:
    """A list or mapping whose end has not come yet."""

    def __init__(self, value: list[Json] | dict[str, Json], path: Path, anchor: str | None, nodes: int) -> None:
        self.value = value
        self.path = path
        self.anchor = anchor
        self.nodes_before = nodes
        self.height = 1
        self.key: str | None = None

    def wants_key(self) -> bool:
        return isinstance(self.value, dict) and self.key is None


class _Anchored(NamedTuple):
    value: Json
    nodes: int
    height: int


class TreeReader:
    """Builds the data from parser events without recursion, so that neither depth nor aliases can hurt."""

    def __init__(self, source: str) -> None:
        self.root: Json = None
        self.lines: dict[Path, int] = {}
        self.words: dict[Path, str] = {}
        self._source = source
        self._line = 0
        self._scalars = _Scalars()
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored] = {}
        self._nodes = 0
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        """Add what `event` says."""
        self._line = event.start_mark.line + 1 if event.start_mark else 0
        match event:
            case yaml.ScalarEvent():
                self._take_scalar(event)
            case yaml.AliasEvent():
                self._take_alias(str(event.anchor))
            case yaml.MappingStartEvent():
                self._begin({}, event, "map")
            case yaml.SequenceStartEvent():
                self._begin([], event, "seq")
            case yaml.CollectionEndEvent():
                self._end()
            case yaml.DocumentStartEvent():
                self._begin_document()
            case yaml.StreamEndEvent() if not self._documents:
                self._line = 1
                self._refuse("SCN009", "the file is empty", "write one document into it")

    def _begin_document(self) -> None:
        self._documents += 1
        if self._documents > 1:
            self._refuse("SCN008", "a second document begins here", "keep one document a file: take out the `---`")

    def _begin(self, value: list[Json] | dict[str, Json], event: yaml.CollectionStartEvent, kind: str) -> None:
        if event.tag not in (None, "!", _TAG + kind):
            self._refuse_tag(event.tag)
        path = self._place(value)
        self._count(1)
        self._open.append(_Open(value, path, event.anchor, self._nodes - 1))
        self._check_depth(0)

    def _end(self) -> None:
        done = self._open.pop()
        if done.anchor is not None:
            self._anchors[done.anchor] = _Anchored(done.value, self._nodes - done.nodes_before, done.height)
        if self._open:
            self._open[-1].height = max(self._open[-1].height, done.height + 1)

    def _take_scalar(self, event: yaml.ScalarEvent) -> None:
        value = self._scalar(event)
        self._count(1)
        if self._open and self._open[-1].wants_key():
            self._take_key(value, event.value)
            return
        path = self._place(value)
        if not isinstance(value, str):
            self.words[path] = event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value, 1, 0)

    def _take_key(self, key: Json, word: str) -> None:
        if not isinstance(key, str):
            self._refuse("SCN005", f"the key {word or '(nothing)'} is not text", f'write it in quotes: "{word}"')
        top = self._open[-1]
        if key in top.value:
            first = self.lines[(*top.path, key)]
            self._refuse("SCN003", f"the key '{key}' stands twice; first in line {first}", "keep one of the two")
        top.key = key
        self.lines[(*top.path, key)] = self._line

    def _take_alias(self, name: str) -> None:
        if name not in self._anchors:
            open_now = any(part.anchor == name for part in self._open)
            what = f"the alias *{name} stands inside its own anchor" if open_now else f"no anchor is named &{name}"
            self._refuse("SCN010", what, "write the value out")
        anchored = self._anchors[name]
        self._place(anchored.value)
        self._count(anchored.nodes)
        self._check_depth(anchored.height)
        self._open[-1].height = max(self._open[-1].height, anchored.height + 1)

    def _place(self, value: Json) -> Path:
        """Hang `value` where the document stands; returns its path."""
        if not self._open:
            self.root = value
            self.lines[()] = self._line
            return ()
        top = self._open[-1]
        if isinstance(top.value, list):
            position: Path = (*top.path, len(top.value))
            top.value.append(value)
            self.lines[position] = self._line
            return position
        if top.key is None:
            self._refuse("SCN005", "this key is not text", "write the key as a word")
        path = (*top.path, top.key)
        top.value[top.key] = value
        top.key = None
        return path

    def _scalar(self, event: yaml.ScalarEvent) -> Json:
        tag = event.tag
        if tag in (None, "!"):
            if not event.implicit[0] or tag == "!":
                return str(event.value)
            tag = self._scalars.tag_of(event.value)
        name = str(tag).removeprefix(_TAG)
        if name in _TEXT_TAGS and (event.tag is None or name == "str"):
            return str(event.value)
        if name == "merge":
            self._refuse("SCN004", "merge keys (`<<`) are not read here", "write the keys out")
        if name not in _PLAIN_TAGS:
            self._refuse_tag(event.tag)
        return self._number(str(tag), event.value)

    def _number(self, tag: str, word: str) -> Json:
        cure = f'write it in quotes if it is text: "{word[:40]}"'
        try:
            value = self._scalars.value_of(tag, word)
        except (ValueError, KeyError) as error:
            place = Place(self._source, self._line)
            raise OvereagerError("SCN011", f"{word[:40]} cannot be read as a value", where=place, cure=cure) from error
        if isinstance(value, float) and not math.isfinite(value):
            self._refuse("SCN011", f"{word} is no finite number", cure)
        return value

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            self._refuse(
                "SCN006", f"with every alias written out this has more than {MAX_NODES} parts", "use fewer aliases"
            )

    def _check_depth(self, more: int) -> None:
        if len(self._open) + more > MAX_DEPTH:
            raise too_deep(Place(self._source, self._line))

    def _refuse_tag(self, tag: object) -> NoReturn:
        word = str(tag).replace(_TAG, "!!")
        self._refuse("SCN004", f"the tag {word} is not read here", "take the tag out; write plain text and lists")

    def _refuse(self, code: str, what: str, cure: str) -> NoReturn:
        raise OvereagerError(code, what, where=Place(self._source, self._line), cure=cure)
