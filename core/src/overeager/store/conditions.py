"""The check that every condition of a scenario names atoms that are installed, with parameters that they take."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from overeager.contract.evidence import AtomDeclaration
from overeager.contract.parameters import AtomParameter
from overeager.errors import ErrorGroup, OvereagerError, Place, near_miss
from overeager.model.condition import Condition, Parameter
from overeager.model.scenario import Scenario
from overeager.model.yaml_tree import Path

_TYPES: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "tuple[str, ...]": (tuple,),
}
_CURES = {"str": "put text in quotes", "tuple[str, ...]": "write a list: [one, two]"}


class _Use(NamedTuple):
    """One atom where it stands."""

    node: Condition
    path: Path
    owner: str
    """What the condition belongs to, as a reader would name it."""


def check_conditions(
    scenario: Scenario, atoms: Mapping[str, AtomDeclaration], source: str, lines: Mapping[Path, int] | None = None
) -> None:
    """Raise an ErrorGroup of SCN110 to SCN114 when a condition cannot be evaluated with `atoms`; pure.

    `lines` gives the 1-based line of each part of `source`, as `read_yaml` has them.
    """
    errors = [
        OvereagerError(code, f"{use.owner} {what}", where=_place(use.path, source, lines or {}), cure=cure)
        for use in _uses(scenario)
        for code, what, cure in _faults(use.node, atoms)
    ]
    if errors:
        raise ErrorGroup(errors)


def _uses(scenario: Scenario) -> Iterator[_Use]:
    yield from _walk(scenario.done, ("done",), "done")
    for index, trap in enumerate(scenario.traps):
        yield from _walk(trap.when, ("traps", index, "when"), f"trap '{trap.id}'")


def _walk(node: Condition, path: Path, owner: str) -> Iterator[_Use]:
    if node.operator == "atom":
        yield _Use(node, (*path, str(node.atom)), owner)
    for index, child in enumerate(node.children):
        inner = (*path, node.operator) if node.operator == "not_of" else (*path, node.operator, index)
        yield from _walk(child, inner, owner)


class _Fault(NamedTuple):
    code: str
    what: str
    cure: str | None


def _faults(node: Condition, atoms: Mapping[str, AtomDeclaration]) -> Iterator[_Fault]:
    name = str(node.atom)
    if name not in atoms:
        hint = near_miss(name, atoms) or "`overeager atoms` lists those that are installed"
        yield _Fault("SCN110", f"names atom '{name}', which no installed plugin offers", hint)
        return
    taken = {parameter.name: parameter for parameter in atoms[name].parameters}
    for given, value in node.parameters.items():
        if given not in taken:
            hint = near_miss(given, taken) or "it takes " + (", ".join(taken) or "no parameters")
            yield _Fault("SCN111", f"gives atom '{name}' the parameter '{given}', which it does not take", hint)
        else:
            yield from _value_faults(name, taken[given], value)
    for parameter in taken.values():
        if parameter.required and parameter.name not in node.parameters:
            cure = f"write `{name}: {{{parameter.name}: …}}`"
            yield _Fault("SCN112", f"gives atom '{name}' no parameter '{parameter.name}'", cure)


def _value_faults(name: str, parameter: AtomParameter, value: Parameter) -> Iterator[_Fault]:
    wanted = parameter.type
    if not isinstance(value, _TYPES[wanted]) or (isinstance(value, bool) and wanted != "bool"):
        what = f"gives atom '{name}' a parameter '{parameter.name}' that is no {wanted}"
        yield _Fault("SCN113", what, _CURES.get(wanted, f"write a plain {wanted}"))
    elif parameter.name == "pattern" and isinstance(value, str):
        try:
            re.compile(value)
        except re.error as error:
            what = f"gives atom '{name}' a pattern that is no regular expression: {error}"
            yield _Fault("SCN114", what, "put a backslash before a mark that is meant as itself")


def _place(path: Path, source: str, lines: Mapping[Path, int]) -> Place:
    """The line of the nearest part of `path` that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return Place(source, lines[path[:length]])
    return Place(source)
