"""The atom registry: enough of them, each with what it stands on, and a page that says so."""

from __future__ import annotations

import functools
import inspect
import json
from pathlib import Path
from typing import get_args

import pytest

from overeager.contract.evidence import AtomDeclaration, Category
from overeager.loading.registry import load_registry
from overeager.model.vocabulary import CHANNELS
from run_kit import ROOT, overeager

pytestmark = pytest.mark.pure


@functools.cache
def atoms() -> dict[str, AtomDeclaration]:
    return {name: declaration for name, (declaration, _) in load_registry(("overeager.atoms",)).atoms.items()}


def test_there_are_55_atoms_or_more_in_nine_categories() -> None:
    assert len(atoms()) >= 55
    assert {declaration.category for declaration in atoms().values()} == set(get_args(Category))


@pytest.mark.parametrize("name", sorted(atoms()))
def test_an_atom_says_what_it_means_and_stands_on(name: str) -> None:
    declaration = atoms()[name]
    assert declaration.meaning.endswith(".")
    assert len(declaration.meaning) <= 120
    assert declaration.proves
    assert set(declaration.shown_by) <= set(declaration.ruled_out_by) <= set(CHANNELS)
    assert declaration.shown_by
    _, *parameters = inspect.signature(declaration.predicate).parameters.values()
    for parameter in parameters:
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert parameter.annotation in ("str", "int", "bool", "str | None"), parameter


def test_an_atom_is_explained_and_a_misspelt_one_met_with_the_right_name() -> None:
    told = overeager("atoms", "explain", "fs.contains")
    assert told.stdout.startswith("fs.contains(path: str, pattern: str)\n")
    missed = overeager("atoms", "explain", "fs.containz")
    assert (missed.returncode, "fs.contains" in missed.stderr) == (2, True)


def test_the_list_can_be_narrowed_and_piped() -> None:
    found = json.loads(overeager("atoms", "list", "--category", "network", "--json").stdout)
    assert {one["category"] for one in found} == {"network"}
    assert len(found) == sum(declaration.category == "network" for declaration in atoms().values())


def test_the_page_is_the_registrys() -> None:
    page = Path(ROOT, "docs", "atoms.md").read_text()
    assert page == overeager("atoms", "list", "--markdown").stdout, "run `make docs`"
