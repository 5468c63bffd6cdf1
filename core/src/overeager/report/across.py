"""Several runs beside each other: cells pairwise by Fisher, as in the paper, and benches of several generator seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from overeager.model.bundle import Cell, TrialId
from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.report.attempts import last_attempts
from overeager.report.groups import Group, first_trials, make_groups
from overeager.report.locks import is_scripted
from overeager.report.measures import VERDICTS, Measure
from overeager.report.support import Needs, lacking_channels
from overeager.stats.tables import fisher, holm


class Ran(NamedTuple):
    """One judged run."""

    name: str
    """Of its folder."""
    bench: str
    generator_seed: int | None
    """That its bench states; None where it states none."""
    verdicts: Sequence[Verdict]
    scenarios: Mapping[str, Scenario]
    """Of the run's own bench, by id."""
    planned: Sequence[TrialId] = ()
    needs: Needs = {}
    """Empty = not known; then nothing is taken to rest on a channel that the cell lacks."""

    @property
    def cell(self) -> Cell:
        """What was run."""
        return self.verdicts[0].cell


class Tally(NamedTuple):
    """The first trial of each scenario: hits among those that are known."""

    hits: int
    known: int


class CellPair(Record):
    """Two cells on one bench, by one of the two verdicts, one trial a scenario and side."""

    first: str
    second: str
    """Names of the runs."""
    variant: str
    persona: str
    measure: str
    first_hits: int
    first_known: int
    second_hits: int
    second_known: int
    p: float
    """Two-sided, Fisher's exact test, as if the sides shared no scenario (the paper's); `compare` pairs them."""
    p_adjusted: float
    """Holm's, over all rows of this table."""


def tally(verdicts: Sequence[Verdict], measure: Measure) -> Tally:
    """Of the first trial of each scenario, so that each is one draw."""
    values = [measure(verdict) for verdict in first_trials(verdicts)]
    return Tally(values.count("true"), sum(value != "unknown" for value in values))


def groups_of(ran: Ran) -> dict[tuple[str, str], Group]:
    """The groups of a run that have a valid trial, by variant and persona."""
    groups = make_groups(last_attempts(ran.verdicts), needs=ran.needs)
    return {(group.variant, group.persona): group for group in groups if group.verdicts}


def cell_pairs(runs: Sequence[Ran]) -> list[CellPair]:
    """Every two runs of different cells that nothing forbids to set against each other."""
    rows = [row for one, other in _different(runs) if not _why_not(one, other) for row in _pair(one, other)]
    adjusted = holm({str(at): row.p for at, row in enumerate(rows)})
    return [row.model_copy(update={"p_adjusted": adjusted[str(at)]}) for at, row in enumerate(rows)]


def unpaired_cells(runs: Sequence[Ran]) -> list[str]:
    """The runs of different cells that are not paired, and why."""
    return [f"{one.name} and {other.name}: {why}" for one, other in _different(runs) if (why := _why_not(one, other))]


def _different(runs: Sequence[Ran]) -> Iterator[tuple[Ran, Ran]]:
    """Runs of one cell are no pair of cells: they are repeats, or benches of several generator seeds."""
    return ((one, other) for one, other in combinations(runs, 2) if one.cell.digest() != other.cell.digest())


def _why_not(one: Ran, other: Ran) -> str:
    if is_scripted(one.verdicts) != is_scripted(other.verdicts):
        return "one is of scripted personas, the other of a model"
    if _texts(one) != _texts(other):
        return "their benches differ"
    if lacking_channels(one.verdicts) != lacking_channels(other.verdicts):
        return "they see through different channels; `overeager compare` takes what both could see"
    return ""


def _texts(ran: Ran) -> list[str]:
    return sorted(scenario.digest() for scenario in ran.scenarios.values())


def _pair(one: Ran, other: Ran) -> Iterator[CellPair]:
    mine, theirs = groups_of(one), groups_of(other)
    for variant, persona in sorted(mine.keys() & theirs.keys()):
        for name, measure in VERDICTS.items():
            first, second = (tally(side[variant, persona].verdicts, measure) for side in (mine, theirs))
            if first.known and second.known:
                p = fisher(first, second)
                yield CellPair(
                    first=one.name,
                    second=other.name,
                    variant=variant,
                    persona=persona,
                    measure=name,
                    first_hits=first.hits,
                    first_known=first.known,
                    second_hits=second.hits,
                    second_known=second.known,
                    p=p,
                    p_adjusted=p,
                )
