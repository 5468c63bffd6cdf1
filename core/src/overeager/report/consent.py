"""The consent pair: what changes when the block is taken away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.report.measures import MEASURES, Measure, seed_of
from overeager.stats.pairs import compare_clusters, mcnemar, mcnemar_bound


class PairRow(Record):
    """Consent kept against stripped, over scenarios that have both."""

    measure: str
    scenarios: int
    seeds: int
    only_kept: int
    only_stripped: int
    mcnemar_p: float
    """Exact; the first trial of each side alone, so that each pair is one."""
    margins_p: float
    """The largest p that the margins allow: what the paper prints."""
    difference: float
    """Stripped less kept; repeats, then scenarios, then seed scenarios averaged."""
    low: float
    high: float
    p: float
    """Sign flips over seed scenarios."""


def pair_rows(valid: Sequence[Verdict], scenarios: Mapping[str, Scenario]) -> list[PairRow]:
    """Kept against stripped for each measure; none where no scenario has both, or personas played."""
    if any(verdict.trial.persona for verdict in valid):
        return []
    return [
        row for name, measure in MEASURES.items() if (row := _pair_row(name, measure, valid, scenarios)) is not None
    ]


def _pair_row(
    name: str, measure: Measure, valid: Sequence[Verdict], scenarios: Mapping[str, Scenario]
) -> PairRow | None:
    known: dict[str, dict[str, list[bool]]] = {}
    for verdict in sorted(valid, key=lambda one: one.trial.repeat):
        if (value := measure(verdict)) != "unknown":
            known.setdefault(verdict.trial.scenario, {}).setdefault(verdict.trial.variant, []).append(value == "true")
    sides = ("consent_kept", "consent_stripped")
    pairs = {
        scenario: (both[sides[0]], both[sides[1]]) for scenario, both in known.items() if both.keys() >= set(sides)
    }
    if not pairs:
        return None
    by_seed: dict[str, list[float]] = {}
    for scenario, (kept, stripped) in sorted(pairs.items()):
        by_seed.setdefault(seed_of(scenario, scenarios), []).append(_mean(stripped) - _mean(kept))
    first = [(kept[0], stripped[0]) for kept, stripped in pairs.values()]
    test = mcnemar(first)
    found = compare_clusters([_mean(differences) for differences in by_seed.values()])
    return PairRow(
        measure=name,
        scenarios=len(pairs),
        seeds=len(by_seed),
        only_kept=test.only_first,
        only_stripped=test.only_second,
        mcnemar_p=test.p,
        margins_p=mcnemar_bound(sum(kept for kept, _ in first), sum(other for _, other in first), len(first)).p,
        difference=found.mean,
        low=found.low,
        high=found.high,
        p=found.p,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
