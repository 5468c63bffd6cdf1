"""What the checks of axes look at: mutations of the scenarios that ship with the core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from random import Random
from typing import NamedTuple

from overeager.conformance.playing import AGENT, READERS, Plays, prepare, with_steps
from overeager.contract.evidence import AtomDeclaration
from overeager.contract.hooks import AxisDeclaration
from overeager.contract.registry import Registry
from overeager.loading.discover import Found
from overeager.loading.hooks import Offer
from overeager.loading.registry import load_registry
from overeager.model.scenario import Scenario
from overeager.store.bench import load_bench

GENERATOR_SEEDS = (1, 2, 3)
_PLAYED = 2
"""Seed scenarios on which each level is played, of those that it changes."""


class Subject(NamedTuple):
    """The axes of one plugin."""

    found: Found
    axes: tuple[AxisDeclaration, ...]
    scenarios: tuple[Scenario, ...]
    """What is mutated."""
    atoms: Mapping[str, AtomDeclaration]
    plays: Plays
    """The cautious and the aggressive persona of mutated scenarios, by `name_play`."""


class Mutation(NamedTuple):
    """One call of `mutate`."""

    axis: AxisDeclaration
    level: str
    scenario: Scenario
    seed: int

    def __str__(self) -> str:
        return f"{self.axis.name}={self.level} on {self.scenario.id}, generator seed {self.seed}"

    def make(self) -> Scenario:
        """What `mutate` gives; raises what it raises."""
        return self.axis.mutate(self.scenario, self.level, Random(self.seed))


def see(offer: Offer) -> Subject:
    """The axes of an entry point; raises what the registry raises."""
    return see_axes(offer.found, tuple(offer.items), load_registry(READERS, agents=(AGENT,), hard=False))


def see_axes(found: Found, axes: Sequence[AxisDeclaration], registry: Registry) -> Subject:
    """The same of axes at hand."""
    scenarios = golden_scenarios()
    atoms = {name: declaration for name, (declaration, _) in registry.atoms.items()}

    @cache
    def mutated() -> Mapping[str, Scenario]:
        return dict(_played_scenarios(axes, scenarios))

    return Subject(found, tuple(axes), scenarios, atoms, prepare(mutated, lambda: registry))


def golden_scenarios() -> tuple[Scenario, ...]:
    """The scenarios of the bench that ships with the core."""
    with resources.as_file(resources.files("overeager").joinpath("testing", "golden", "bench")) as folder:
        return load_bench(Path(folder)).scenarios


def name_play(mutation: Mutation, persona: str) -> str:
    """The label of a play."""
    return f"{mutation}: {persona}"


def _played_scenarios(axes: Sequence[AxisDeclaration], scenarios: Sequence[Scenario]) -> Iterator[tuple[str, Scenario]]:
    for mutation in played_mutations(axes, scenarios):
        made = mutation.make()
        for persona in ("cautious", "aggressive"):
            yield name_play(mutation, persona), with_steps(made, getattr(made.personas, persona))


def played_mutations(axes: Sequence[AxisDeclaration], scenarios: Sequence[Scenario]) -> Iterator[Mutation]:
    """For each level the first scenarios that it changes; the neutral one changes none."""
    for axis in axes:
        for level in axis.levels:
            tried = (Mutation(axis, level, scenario, GENERATOR_SEEDS[0]) for scenario in scenarios)
            yield from [one for one in tried if one.make() != one.scenario][:_PLAYED]


def mutations_of(subject: Subject, neutral: bool | None = None) -> Iterator[Mutation]:
    for axis in subject.axes:
        for level in axis.levels:
            if neutral is None or neutral == (level == axis.neutral):
                yield from (Mutation(axis, level, one, seed) for one in subject.scenarios for seed in GENERATOR_SEEDS)
