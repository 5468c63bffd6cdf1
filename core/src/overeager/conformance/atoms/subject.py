"""What the checks of atoms look at."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from overeager.conformance.atoms.answers import Sealed
from overeager.conformance.atoms.cases import FILE, AtomCases, Claim, claims, read_cases, scenarios_of
from overeager.conformance.check import Unavailable
from overeager.conformance.playing import Played, Plays, package_of, play, read_registry
from overeager.contract.evidence import AtomDeclaration
from overeager.contract.registry import Registry
from overeager.errors import OvereagerError
from overeager.loading.discover import Found
from overeager.loading.hooks import Offer


class Subject(NamedTuple):
    """The atoms of one plugin."""

    found: Found
    atoms: Mapping[str, AtomDeclaration]
    package: str
    """Where the cases lie."""
    registry: Registry
    """What reads and judges, with these atoms in it."""
    plays: Plays
    """The author's plays, by name."""


def see(offer: Offer) -> Subject:
    """The atoms of an entry point; raises what the registry raises."""
    found, registry = offer.found, read_registry(offer.found)
    package = package_of(found.module)
    return Subject(found, {one.name: one for one in offer.items}, package, registry, _plays(package, registry))


def _plays(package: str, registry: Registry) -> Plays:
    @cache
    def plays() -> Mapping[str, Played]:
        by_mode = scenarios_of(need_cases(package))
        return {name: one for mode in by_mode for name, one in play(by_mode[mode], registry, mode).items()}

    return plays


def need_cases(package: str) -> AtomCases:
    """The author's cases; raises Unavailable when there are none."""
    try:
        cases = read_cases(package)
    except OvereagerError as error:
        raise Unavailable(f"{FILE} cannot be read ({error.code} {error.what}): see atom-cases") from error
    if cases is None:
        raise Unavailable(f"it is tried on the author's cases, and there is no {FILE}: see atom-cases")
    return cases


def asked_of(subject: Subject) -> list[Claim]:
    """What the author claims of atoms of this plugin, in plays that came to a bundle."""
    played = subject.plays()
    return [one for one in claims(need_cases(subject.package)) if one.atom in subject.atoms and one.play in played]


def sealed_of(subject: Subject) -> dict[str, Sealed]:
    return {name: Sealed(one.manifest, one.members) for name, one in subject.plays().items()}
