"""What the checks of archetypes look at."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from overeager.conformance.archetypes import plays as played
from overeager.conformance.check import Unavailable
from overeager.conformance.playing import AGENT, READERS, Plays, prepare
from overeager.contract.evidence import AtomDeclaration
from overeager.errors import OvereagerError
from overeager.loading.discover import Found
from overeager.loading.hooks import Offer
from overeager.loading.registry import load_registry
from overeager.model.scenario import Scenario
from overeager.store.archetypes import Shelf, package_folder, read_archetypes


class Subject(NamedTuple):
    """A package with YAML."""

    found: Found
    folder: Path
    """Where it lies."""
    atoms: Mapping[str, AtomDeclaration]
    """Those that are installed."""
    plays: Plays
    """Every play of every seed scenario, by `ID: NAME`."""


def see(offer: Offer) -> Subject:
    """The package of an entry point; raises SCN100, and what the registry raises."""
    return see_folder(offer.found, package_folder(offer.items[0].package))


def see_folder(found: Found, folder: Path) -> Subject:
    """The package in `folder`, installed or not."""
    registry = load_registry(READERS, agents=(AGENT,), hard=False)
    atoms = {name: declaration for name, (declaration, _) in registry.atoms.items()}

    @cache
    def scenarios() -> Mapping[str, Scenario]:
        seeds = [seed for _, seed in read_archetypes([folder], atoms).seeds]
        return {f"{seed.id}: {name}": one for seed in seeds for name, one in played.list_plays(seed).items()}

    return Subject(found, folder, atoms, prepare(scenarios, lambda: registry))


def read_shelf(subject: Subject) -> Shelf:
    """What the package holds; raises Unavailable when that cannot be read."""
    try:
        return read_archetypes([subject.folder], subject.atoms)
    except OvereagerError as error:
        raise Unavailable(f"the package cannot be read ({error.code} {error.what}): see archetype-schema") from error
