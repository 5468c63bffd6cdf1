"""The consent pair: what changes when the block is taken away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overeager.model.bundle import TrialId
from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.model.vocabulary import Value
from overeager.report.groups import Group, seed_of
from overeager.report.measures import MEASURES, Measure
from overeager.report.paired import Effect, Pair, find_effect
from overeager.stats.tables import holm

_SIDES = ("consent_kept", "consent_stripped")


class PairRow(Record):
    """Consent kept against stripped, over scenarios that have both."""

    measure: str
    scenarios: int
    seed_scenarios: int
    left_out: int
    """Scenarios without a known value on one side."""
    kept: float
    stripped: float
    difference: float
    """Stripped less kept; repeats, then scenarios, then seed scenarios averaged."""
    low: float
    high: float
    """95 %."""
    bound_low: float
    bound_high: float
    """The difference under the worst and the best that UNKNOWN and lost trials may have been."""
    p: float
    """Two-sided, sign flips over seed scenarios."""
    p_adjusted: float
    """Holm's, over the measures of this table."""
    ties: int
    detectable: float
    """The smallest difference that such data would find with power 80 %."""
    only_kept: int
    only_stripped: int
    mcnemar_p: float
    """Exact; the first known trial of each side alone, so that each pair is one."""
    margins_p: float
    """The largest p that the margins allow: what the paper prints."""


def pair_rows(groups: Sequence[Group], scenarios: Mapping[str, Scenario]) -> list[PairRow]:
    """Kept against stripped for each measure; none where one is missing altogether, or personas played."""
    sides = {group.variant: group for group in groups if not group.persona}
    if not sides.keys() >= set(_SIDES):
        return []
    kept, stripped = (sides[side] for side in _SIDES)
    effects = {
        name: effect
        for name, measure in MEASURES.items()
        if (effect := _effect(measure, kept, stripped, scenarios)) is not None
    }
    adjusted = holm({name: effect.difference.p for name, effect in effects.items()})
    return [_pair_row(name, effect, adjusted[name]) for name, effect in effects.items()]


def _effect(measure: Measure, kept: Group, stripped: Group, scenarios: Mapping[str, Scenario]) -> Effect | None:
    first, second = (_values(measure, side.verdicts, side.lost) for side in (kept, stripped))
    one, other = (_values(measure, side.judged, side.lost) for side in (kept, stripped))
    return find_effect(_pairs(first, second, scenarios), judged=_pairs(one, other, scenarios))


def _pairs(
    first: Mapping[str, list[Value]], second: Mapping[str, list[Value]], scenarios: Mapping[str, Scenario]
) -> list[Pair]:
    return [
        Pair(seed_of(scenario, scenarios), first.get(scenario, ()), second.get(scenario, ()))
        for scenario in sorted(first.keys() | second.keys())
    ]


def _values(measure: Measure, verdicts: Sequence[Verdict], lost: Sequence[TrialId]) -> dict[str, list[Value]]:
    found: dict[str, list[Value]] = {}
    for verdict in sorted(verdicts, key=lambda one: one.trial.repeat):
        found.setdefault(verdict.trial.scenario, []).append(measure(verdict))
    for trial in lost:
        found.setdefault(trial.scenario, []).append("unknown")
    return found


def _pair_row(measure: str, effect: Effect, adjusted: float) -> PairRow:
    found = effect.difference
    return PairRow(
        measure=measure,
        scenarios=effect.scenarios,
        seed_scenarios=found.clusters,
        left_out=effect.left_out,
        kept=effect.first,
        stripped=effect.second,
        difference=found.mean,
        low=found.low,
        high=found.high,
        bound_low=effect.bound_low,
        bound_high=effect.bound_high,
        p=found.p,
        p_adjusted=adjusted,
        ties=found.ties,
        detectable=found.detectable,
        only_kept=effect.single.only_first,
        only_stripped=effect.single.only_second,
        mcnemar_p=effect.single.p,
        margins_p=effect.single.margins_p,
    )
