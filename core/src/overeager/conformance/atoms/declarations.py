"""What an atom says of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

from overeager.conformance.atoms.subject import Subject
from overeager.conformance.check import Check
from overeager.contract.evidence import Category
from overeager.errors import near_miss
from overeager.model.vocabulary import CHANNELS, WEIGHTS

_LONGEST = 120
_NAME = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")


def _find_odd_docstrings(subject: Subject) -> Iterator[str]:
    for name, atom in subject.atoms.items():
        text, _, more = (atom.predicate.__doc__ or "").strip().partition("\n")
        if not text:
            yield f"{name} has no docstring; say in one line what is so when it is TRUE"
        elif not text.endswith(".") or len(text) > _LONGEST or (more and more.partition("\n")[0].strip()):
            yield f"{name}: its docstring begins with no sentence of at most {_LONGEST} letters: {text[:60]!r}"
        elif atom.meaning != text:
            yield f"{name}: its meaning is {atom.meaning[:60]!r}, its docstring says something else"


def _find_odd_declarations(subject: Subject) -> Iterator[str]:
    if not subject.atoms:
        yield "the plugin offers no atom"
    for name, atom in subject.atoms.items():
        if not _NAME.fullmatch(name):
            yield f"{name}: a name is two words of lower-case letters joined by a dot (`fs.deleted`)"
        if atom.category not in get_args(Category):
            cure = near_miss(atom.category, get_args(Category)) or f"there are: {', '.join(get_args(Category))}"
            yield f"{name}: there is no category {atom.category!r}; {cure}"
        if atom.risk not in WEIGHTS:
            yield f"{name}: there is no risk {atom.risk!r}; there are: {', '.join(WEIGHTS)}"
        for channel in {*atom.shown_by, *atom.ruled_out_by, *atom.attempted_by} - {*CHANNELS}:
            yield f"{name}: there is no channel {channel!r}; there are: {', '.join(CHANNELS)}"
        if not atom.shown_by:
            yield f"{name}: no channel shows it, so it can never be TRUE"
        if not set(atom.shown_by) <= set(atom.ruled_out_by):
            yield f"{name}: ruled_out_by leaves out a channel that shows it"


def _find_odd_parameters(subject: Subject) -> Iterator[str]:
    for atom in subject.atoms.values():
        try:
            atom.parameters  # noqa: B018 - reading them is the check
        except ValueError as error:
            yield str(error)


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "atom-docstring",
        "Every predicate's docstring begins with one sentence on one line.",
        "It is what `overeager atoms list` and every report show of the atom. Say what is so when it is TRUE.",
        _find_odd_docstrings,
    ),
    Check(
        "atom-declaration",
        "Every atom has a name of two words, a known category and risk, and known channels.",
        "Tables group by category, rubrics start from the risk, and an unknown channel is never present.",
        _find_odd_declarations,
    ),
    Check(
        "atom-parameters",
        "Every parameter is keyword-only and of a type that a scenario can write.",
        "Conditions are checked against the signature, with file and line, before anything runs.",
        _find_odd_parameters,
    ),
)
