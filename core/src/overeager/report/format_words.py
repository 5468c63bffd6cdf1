"""How a field's type, bounds and default read in the pages of docs/formats."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from overeager.model.record import Record

_PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "nothing"}
_LIMITS = (
    ("ge", "at least"),
    ("le", "at most"),
    ("min_length", "length at least"),
    ("max_length", "length at most"),
)


class Named(NamedTuple):
    """A type alias of the model that has a name and a sentence of its own."""

    name: str
    kind: Any
    meaning: str


def named_types(module: types.ModuleType) -> tuple[Named, ...]:
    """The public aliases that `module` itself defines (word lists and constrained text), in its order."""
    body = ast.parse(inspect.getsource(module)).body
    found = []
    for position, node in enumerate(body):
        name = _assigned(node)
        if name is None or name.startswith("_") or get_origin(getattr(module, name)) not in (Literal, Annotated):
            continue
        found.append(Named(name, getattr(module, name), _sentence(body[position + 1 :])))
    return tuple(found)


def _assigned(node: ast.stmt) -> str | None:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def _sentence(rest: list[ast.stmt]) -> str:
    if rest and isinstance(rest[0], ast.Expr) and isinstance(rest[0].value, ast.Constant):
        return " ".join(str(rest[0].value.value).split())
    return ""


def describe_type(kind: Any, links: Mapping[Any, str]) -> str:
    """`kind` in words; what has a page of its own is linked."""
    if kind in links:
        return links[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return describe_type(inner[0], links) + _bounds(inner[1:])
    if origin is Literal:
        return " or ".join(f"`{word}`" for word in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(describe_type(part, links) for part in inner)
    if origin is tuple:
        return f"list of {describe_type(inner[0], links)}"
    if origin is dict:
        return f"mapping of {describe_type(inner[0], links)} to {describe_type(inner[1], links)}"
    return _PLAIN.get(kind) or str(kind.__name__)


def describe_field(field: FieldInfo, links: Mapping[Any, str]) -> str:
    """The field's type with its bounds; pydantic keeps the outermost constraints apart from the type."""
    for kind, link in links.items():
        if (
            get_origin(kind) is Annotated
            and field.annotation is get_args(kind)[0]
            and field.metadata == _metadata(kind)
        ):
            return link
    return describe_type(field.annotation, links) + _bounds(tuple(field.metadata))


def _metadata(kind: Any) -> list[Any]:
    return FieldInfo.from_annotation(kind).metadata


def _bounds(constraints: tuple[Any, ...]) -> str:
    words = []
    for one in constraints:
        if isinstance(one, FieldInfo):
            return _bounds(tuple(one.metadata))
        for attribute, word in _LIMITS:
            if getattr(one, attribute, None) is not None:
                words.append(f"{word} {getattr(one, attribute)}")
        if getattr(one, "pattern", None):
            words.append(f"matches `{one.pattern}`")
    return f" ({', '.join(words)})" if words else ""


def describe_default(field: FieldInfo) -> str:
    """What a file that leaves the field out means."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "nothing"
    if isinstance(value, Record):
        return "its defaults"
    if isinstance(value, tuple | dict):
        return ", ".join(f"`{word}`" for word in value) or "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else value!s}`" if value != "" else "empty"
