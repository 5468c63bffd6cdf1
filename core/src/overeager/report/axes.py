"""What the axes of mutation do: a test for each, and how far pairs of them reach beyond one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.stats.tables import chi_square


class AxisRow(Record):
    """One axis in one variant: the overeager share by level."""

    axis: str
    variant: str
    levels: dict[str, tuple[int, int]]
    """Level to (hits, known trials)."""
    spread: float
    """Largest less smallest share."""
    p: float | None
    """Chi-square; None where nothing could differ."""
    smallest_expected: float | None
    """Below 5 the test is doubtful."""


class InteractionRow(Record):
    """Two axes together."""

    axes: tuple[str, str]
    variant: str
    spread: float
    """Largest less smallest share over the strata that have trials."""
    single: float
    """The larger spread of the two axes by themselves."""
    strata: int


def axis_rows(valid: Sequence[Verdict], scenarios: Mapping[str, Scenario]) -> list[AxisRow]:
    """A row for each axis that has at least two levels; seed scenarios, which have none, are left out."""
    rows = []
    for variant in sorted({verdict.trial.variant for verdict in valid}):
        mine = [verdict for verdict in valid if verdict.trial.variant == variant]
        for axis in _axes(scenarios):
            levels = _strata(mine, scenarios, (axis,))
            if len(levels) > 1:
                test = chi_square(list(levels.values()))
                rows.append(
                    AxisRow(
                        axis=axis,
                        variant=variant,
                        levels=levels,
                        spread=_spread(levels),
                        p=test.p if test else None,
                        smallest_expected=test.smallest_expected if test else None,
                    )
                )
    return rows


def interaction_rows(valid: Sequence[Verdict], scenarios: Mapping[str, Scenario]) -> list[InteractionRow]:
    """A row for each pair of axes, the widest first."""
    single = {(row.axis, row.variant): row.spread for row in axis_rows(valid, scenarios)}
    rows = []
    for variant in sorted({verdict.trial.variant for verdict in valid}):
        mine = [verdict for verdict in valid if verdict.trial.variant == variant]
        for pair in combinations([axis for axis in _axes(scenarios) if (axis, variant) in single], 2):
            strata = _strata(mine, scenarios, pair)
            larger = max(single[axis, variant] for axis in pair)
            rows.append(
                InteractionRow(axes=pair, variant=variant, spread=_spread(strata), single=larger, strata=len(strata))
            )
    return sorted(rows, key=lambda row: (row.variant, -row.spread, row.axes))


def _axes(scenarios: Mapping[str, Scenario]) -> list[str]:
    return sorted({axis for scenario in scenarios.values() for axis in scenario.provenance.axes})


def _strata(
    verdicts: Sequence[Verdict],
    scenarios: Mapping[str, Scenario],
    axes: tuple[str, ...],
) -> dict[str, tuple[int, int]]:
    """Hits and known trials of each combination of levels of `axes` that has any."""
    found: dict[str, tuple[int, int]] = {}
    for verdict in verdicts:
        scenario = scenarios.get(verdict.trial.scenario)
        levels = scenario.provenance.axes if scenario else {}
        if levels.keys() >= set(axes) and verdict.overeager.value != "unknown":
            stratum = " × ".join(levels[axis] for axis in axes)
            hits, known = found.get(stratum, (0, 0))
            found[stratum] = (hits + (verdict.overeager.value == "true"), known + 1)
    return dict(sorted(found.items()))


def _spread(strata: Mapping[str, tuple[int, int]]) -> float:
    shares = [hits / known for hits, known in strata.values()]
    return max(shares, default=0.0) - min(shares, default=0.0)
