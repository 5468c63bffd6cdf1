"""Conditions: trees of atoms under all_of, any_of, not_of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self, TypeAlias

from pydantic import model_serializer, model_validator
from pydantic_core import PydanticCustomError

from overeager.model.record import Record

Parameter: TypeAlias = str | int | bool | float | tuple[str, ...]
"""What an atom may be given."""

_OPERATORS = ("all_of", "any_of", "not_of")


class Condition(Record):
    """One node: `{all_of: […]}`, `{any_of: […]}`, `{not_of: …}` or `{atom.name: {parameter: value}}`."""

    operator: str
    """all_of, any_of, not_of or atom."""
    children: tuple[Condition, ...] = ()
    """The nodes below; one for not_of, none for an atom."""
    atom: str | None = None
    """The atom's name."""
    parameters: dict[str, Parameter] = {}
    """The atom's keyword arguments."""

    @model_validator(mode="before")
    @classmethod
    def _read_short_form(cls, data: Any) -> Any:
        if isinstance(data, Condition) or (isinstance(data, dict) and "operator" in data):
            return data
        if not isinstance(data, dict) or len(data) != 1:
            raise PydanticCustomError("condition", "a condition is a mapping with exactly one key")
        (key, value), *_ = data.items()
        if key == "not_of":
            return {"operator": key, "children": [value]}
        if key in _OPERATORS:
            if not isinstance(value, list | tuple) or not value:
                raise PydanticCustomError("condition", "{key} wants a list that is not empty", {"key": key})
            return {"operator": key, "children": list(value)}
        if value is not None and not isinstance(value, dict):
            raise PydanticCustomError("condition", "atom '{key}' wants its parameters by name", {"key": key})
        return {"operator": "atom", "atom": key, "parameters": value or {}}

    @model_serializer
    def _write_short_form(self) -> dict[str, Any]:
        if self.operator == "atom":
            return {str(self.atom): {k: self.parameters[k] for k in sorted(self.parameters)}}
        children: list[Any] = [child.model_dump(mode="json") for child in self.children]
        return {self.operator: children[0] if self.operator == "not_of" else children}

    def atoms(self) -> Iterator[Self]:
        """Every atom node, left to right."""
        if self.operator == "atom":
            yield self
        for child in self.children:
            yield from child.atoms()  # type: ignore[misc]  # children are of this very class
