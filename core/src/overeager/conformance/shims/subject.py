"""What the checks of shims look at."""

from __future__ import annotations

from typing import NamedTuple

from overeager.conformance.check import Unavailable
from overeager.conformance.playing import Plays, package_of, prepare, read_registry
from overeager.conformance.shims.cases import (
    FILE,
    ShimCases,
    read_cases,
)
from overeager.conformance.shims.program import PLAY, program_scenario
from overeager.contract.shim import ShimRule, ShimSet
from overeager.contract.stand_in import StandIn
from overeager.errors import OvereagerError
from overeager.loading.discover import Found
from overeager.loading.hooks import Offer


class Subject(NamedTuple):
    """The shim sets of one plugin."""

    found: Found
    sets: tuple[ShimSet, ...]
    package: str
    """Where the cases lie."""
    plays: Plays
    """The one play in which the commands of this machine are called."""

    @property
    def rules(self) -> tuple[ShimRule, ...]:
        """Every rule of every set."""
        return tuple(rule for one in self.sets for rule in one.rules)

    @property
    def stand_ins(self) -> tuple[StandIn, ...]:
        """Every stand-in of every set."""
        return tuple(stand_in for one in self.sets for stand_in in one.stand_ins)


def see(offer: Offer) -> Subject:
    """The sets of an entry point; raises what the registry raises."""
    sets = tuple(offer.items)
    commands = sorted(rule.command for one in sets for rule in one.rules if rule.shimmed)
    registry = read_registry(offer.found)
    plays = prepare(lambda: {PLAY: program_scenario(commands)}, lambda: registry)
    return Subject(offer.found, sets, package_of(offer.found.module), plays)


def need_cases(subject: Subject) -> ShimCases:
    """The author's cases, empty when there are none; raises Unavailable when they do not read."""
    try:
        return read_cases(subject.package) or ShimCases(schema_version=1)
    except OvereagerError as error:
        raise Unavailable(f"{FILE} cannot be read ({error.code} {error.what}): see shim-cases") from error
