"""Reproducibility over generator seeds: one cell on benches that differ in nothing but the seed of their generation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from overeager.model.record import Record
from overeager.report.across import Ran, Tally, groups_of, tally
from overeager.report.groups import Group, archetype_of
from overeager.report.measures import VERDICTS, Measure
from overeager.stats.intervals import wilson
from overeager.stats.tables import chi_square, fisher, holm


class SeedShare(Record):
    """One generator seed: the first trial of each scenario."""

    generator_seed: int
    run: str
    hits: int
    known: int
    share: float
    low: float
    """95 % Wilson."""
    high: float


class SeedPair(Record):
    """Two generator seeds."""

    first: int
    second: int
    p: float
    """Two-sided, Fisher's exact test."""
    p_adjusted: float
    """Holm's, over the pairs of this row."""


class SeedRow(Record):
    """One cell, variant and persona over its generator seeds, by one of the two verdicts (the paper's Table 11)."""

    cell: str
    """Digest of the cell."""
    variant: str
    persona: str
    measure: str
    shares: tuple[SeedShare, ...]
    spread: float
    """Largest less smallest share."""
    pairs: tuple[SeedPair, ...]
    p: float | None
    """Chi-square over all seeds; None where nothing could differ."""
    smallest_expected: float | None
    """Below 5 the chi-square is doubtful."""
    archetypes: dict[str, float]
    """Archetype to its spread over the seeds, of those that any seed has and that were hit under one of them."""


def seed_rows(runs: Sequence[Ran]) -> list[SeedRow]:
    """A row for each cell, variant, persona and verdict that was run on benches of two generator seeds or more; of
    several runs of one cell and generator seed the first counts."""
    by_cell: dict[str, dict[int, Ran]] = {}
    for ran in runs:
        if ran.generator_seed is not None:
            by_cell.setdefault(ran.cell.digest(), {}).setdefault(ran.generator_seed, ran)
    return [row for cell, seeds in sorted(by_cell.items()) for row in _cell_rows(cell, seeds)]


def _cell_rows(cell: str, seeds: dict[int, Ran]) -> list[SeedRow]:
    groups = {seed: groups_of(ran) for seed, ran in sorted(seeds.items())}
    keys = sorted({key for found in groups.values() for key in found})
    rows = []
    for key in keys:
        mine = {seed: found[key] for seed, found in groups.items() if key in found}
        for name, measure in VERDICTS.items():
            tallies = {seed: tally(group.verdicts, measure) for seed, group in mine.items()}
            tallies = {seed: found for seed, found in tallies.items() if found.known}
            if len(tallies) > 1:
                rows.append(_row(cell, key, name, tallies, seeds, _spreads(mine, seeds, measure)))
    return rows


def _row(
    cell: str,
    key: tuple[str, str],
    measure: str,
    tallies: dict[int, Tally],
    seeds: dict[int, Ran],
    archetypes: dict[str, float],
) -> SeedRow:
    shares = tuple(_share(seed, seeds[seed].name, found) for seed, found in tallies.items())
    test = chi_square(list(tallies.values()))
    return SeedRow(
        cell=cell,
        variant=key[0],
        persona=key[1],
        measure=measure,
        shares=shares,
        spread=max(one.share for one in shares) - min(one.share for one in shares),
        pairs=tuple(_pairs(tallies)),
        p=test.p if test else None,
        smallest_expected=test.smallest_expected if test else None,
        archetypes=archetypes,
    )


def _share(seed: int, run: str, found: Tally) -> SeedShare:
    share = found.hits / found.known
    low, high = wilson(share, found.known)
    return SeedShare(generator_seed=seed, run=run, hits=found.hits, known=found.known, share=share, low=low, high=high)


def _pairs(tallies: dict[int, Tally]) -> list[SeedPair]:
    found = {pair: fisher(tallies[pair[0]], tallies[pair[1]]) for pair in combinations(tallies, 2)}
    adjusted = holm({f"{one} {other}": p for (one, other), p in found.items()})
    return [
        SeedPair(first=one, second=other, p=p, p_adjusted=adjusted[f"{one} {other}"])
        for (one, other), p in found.items()
    ]


def _spreads(groups: dict[int, Group], seeds: dict[int, Ran], measure: Measure) -> dict[str, float]:
    """How far each archetype's share moves over the seeds; those that no seed hit are left out, as in the paper."""
    shares: dict[str, list[float]] = {}
    for seed, group in groups.items():
        by_archetype: dict[str, list[str]] = {}
        for verdict in group.verdicts:
            if (value := measure(verdict)) != "unknown":
                by_archetype.setdefault(archetype_of(verdict.trial.scenario, seeds[seed].scenarios), []).append(value)
        for archetype, values in by_archetype.items():
            shares.setdefault(archetype, []).append(values.count("true") / len(values))
    return {name: max(found) - min(found) for name, found in sorted(shares.items()) if len(found) > 1 and max(found)}
