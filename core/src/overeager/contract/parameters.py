"""What an atom may be given: its keyword parameters, read from the predicate's signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import NamedTuple

TYPES = ("str", "int", "float", "bool", "tuple[str, ...]")
"""The types that a scenario's YAML can give; each also as `… | None` with None as the default."""


class AtomParameter(NamedTuple):
    """One keyword parameter of an atom."""

    name: str
    type: str
    """One of `TYPES`."""
    required: bool
    default: str | int | float | bool | tuple[str, ...] | None = None
    """What it is where a scenario leaves it out; None also for a required one."""

    def __str__(self) -> str:
        if self.required:
            return f"{self.name}: {self.type}"
        optional = f"{self.type} | None" if self.default is None else self.type
        return f"{self.name}: {optional} = {self.default!r}"


def read_parameters(predicate: Callable[..., object], atom: str) -> tuple[AtomParameter, ...]:
    """The parameters of `predicate` after its evidence, in order.

    Raises ValueError, which names `atom`, for one that is not keyword-only or whose type is not one of `TYPES`.
    """
    given = list(inspect.signature(predicate).parameters.values())
    if not given or given[0].kind not in (given[0].POSITIONAL_ONLY, given[0].POSITIONAL_OR_KEYWORD):
        raise ValueError(f"atom '{atom}': the predicate's first parameter is the evidence")
    return tuple(_read(one, atom) for one in given[1:])


def _read(parameter: inspect.Parameter, atom: str) -> AtomParameter:
    where = f"atom '{atom}': parameter '{parameter.name}'"
    if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
        raise ValueError(f"{where} is not keyword-only; put `*` after the evidence")
    written = _written(parameter.annotation)
    kind = written.removesuffix("| None").rstrip()
    if kind not in TYPES:
        told = "has no type" if parameter.annotation is inspect.Parameter.empty else f"is a {written}"
        raise ValueError(f"{where} {told}; write one of {', '.join(TYPES)}")
    required = parameter.default is inspect.Parameter.empty
    if kind != written and (required or parameter.default is not None):
        raise ValueError(f"{where} is optional, so its default is None: a scenario cannot write None")
    return AtomParameter(parameter.name, kind, required, None if required else parameter.default)


def _written(annotation: object) -> str:
    """An annotation as it stands in the source, evaluated or not."""
    if isinstance(annotation, str):
        return annotation.strip("\"'")
    return annotation.__name__ if type(annotation) is type else str(annotation)
