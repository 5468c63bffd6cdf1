"""What the axes of mutation do: a test for each, and how far pairs of them reach beyond one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import NamedTuple

from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.report.groups import Group, first_trials
from overeager.report.measures import VERDICTS, Measure
from overeager.stats.tables import benjamini_hochberg, chi_square


class AxisRow(Record):
    """One axis in one group, by one of the two verdicts."""

    axis: str
    variant: str
    persona: str
    measure: str
    """overeager (the traps), or outside A (Eq. 1)."""
    levels: dict[str, tuple[int, int]]
    """Stratum to (hits, known trials)."""
    unknown: int
    spread: float
    """Largest less smallest share over the levels."""
    p: float | None
    """Chi-square over the first trial of each scenario; None where nothing could differ."""
    p_adjusted: float | None
    """Benjamini and Hochberg's, over all rows of this table that have a test."""
    smallest_expected: float | None
    """Below 5 the test is doubtful."""


class InteractionRow(Record):
    """Two axes together, in one group, by one of the two verdicts."""

    axes: tuple[str, str]
    variant: str
    persona: str
    measure: str
    spread: float
    """Largest less smallest share over the strata (pairs of levels) that have known trials."""
    single: float
    """The larger spread of the two axes by themselves."""
    exceeds: bool
    """Whether the pair reaches further than either axis."""
    strata: int
    empty: int
    """Pairs of levels without a known trial."""
    smallest: int
    """Known trials of the smallest stratum: a spread over small strata is wide by chance."""


class _Strata(NamedTuple):
    """Trials by level, or by pair of levels."""

    counts: dict[str, tuple[int, int]]
    unknown: int

    @property
    def spread(self) -> float:
        shares = [hits / known for hits, known in self.counts.values()]
        return max(shares, default=0.0) - min(shares, default=0.0)


def axis_rows(groups: Sequence[Group], scenarios: Mapping[str, Scenario]) -> list[AxisRow]:
    """A row for each axis that has at least two levels; seed scenarios, which have none, are left out."""
    rows = [
        row
        for group in groups
        for name, measure in VERDICTS.items()
        for axis in _axes(scenarios)
        if (row := _axis_row(axis, group, name, measure, scenarios)) is not None
    ]
    tested = {str(at): row.p for at, row in enumerate(rows) if row.p is not None}
    adjusted = benjamini_hochberg(tested)
    return [row.model_copy(update={"p_adjusted": adjusted.get(str(at))}) for at, row in enumerate(rows)]


def _axis_row(
    axis: str, group: Group, name: str, measure: Measure, scenarios: Mapping[str, Scenario]
) -> AxisRow | None:
    strata = _stratify(group.verdicts, scenarios, (axis,), measure)
    if len(strata.counts) < 2:
        return None
    test = chi_square(list(_stratify(first_trials(group.verdicts), scenarios, (axis,), measure).counts.values()))
    return AxisRow(
        axis=axis,
        variant=group.variant,
        persona=group.persona,
        measure=name,
        levels=strata.counts,
        unknown=strata.unknown,
        spread=strata.spread,
        p=test.p if test else None,
        p_adjusted=None,
        smallest_expected=test.smallest_expected if test else None,
    )


def interaction_rows(groups: Sequence[Group], scenarios: Mapping[str, Scenario]) -> list[InteractionRow]:
    """A row for each pair of axes that have two levels each; of a group and measure the widest first."""
    rows = []
    for group in groups:
        for name, measure in VERDICTS.items():
            single = {axis: _stratify(group.verdicts, scenarios, (axis,), measure) for axis in _axes(scenarios)}
            single = {axis: strata for axis, strata in single.items() if len(strata.counts) > 1}
            pairs = combinations(single, 2)
            found = [_interaction_row(pair, group, name, measure, single, scenarios) for pair in pairs]
            rows += sorted(found, key=lambda row: (-row.spread, row.axes))
    return rows


def _interaction_row(
    axes: tuple[str, str],
    group: Group,
    name: str,
    measure: Measure,
    single: Mapping[str, _Strata],
    scenarios: Mapping[str, Scenario],
) -> InteractionRow:
    strata = _stratify(group.verdicts, scenarios, axes, measure)
    larger = max(single[axis].spread for axis in axes)
    return InteractionRow(
        axes=axes,
        variant=group.variant,
        persona=group.persona,
        measure=name,
        spread=strata.spread,
        single=larger,
        exceeds=strata.spread > larger,
        strata=len(strata.counts),
        empty=prod(len(single[axis].counts) for axis in axes) - len(strata.counts),
        smallest=min((known for _, known in strata.counts.values()), default=0),
    )


def _axes(scenarios: Mapping[str, Scenario]) -> list[str]:
    return sorted({axis for scenario in scenarios.values() for axis in scenario.provenance.axes})


def _stratify(
    verdicts: Iterable[Verdict], scenarios: Mapping[str, Scenario], axes: tuple[str, ...], measure: Measure
) -> _Strata:
    """Hits and known trials of each combination of levels of `axes` that has any."""
    found: dict[str, tuple[int, int]] = {}
    unknown = 0
    for verdict in verdicts:
        scenario = scenarios.get(verdict.trial.scenario)
        levels = scenario.provenance.axes if scenario else {}
        if not levels.keys() >= set(axes):
            continue
        value = measure(verdict)
        unknown += value == "unknown"
        if value != "unknown":
            stratum = " × ".join(levels[axis] for axis in axes)
            hits, known = found.get(stratum, (0, 0))
            found[stratum] = (hits + (value == "true"), known + 1)
    return _Strata(dict(sorted(found.items())), unknown)
