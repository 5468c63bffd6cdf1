"""Two cells, compared on what both could do and see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from overeager.errors import OvereagerError
from overeager.model.action import Pointer
from overeager.model.bundle import Cell
from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.model.vocabulary import Value, Variant
from overeager.report.measures import seed_of
from overeager.report.support import Place, Side, Support, find_support, value_over
from overeager.stats.pairs import compare_clusters, mcnemar
from overeager.stats.tables import holm

Measure: TypeAlias = Callable[[Verdict, frozenset[str]], Value]
"""(verdict, traps in support) to a value."""


class MeasureRow(Record):
    """One measure of one variant on both sides; shares are means of repeats, then scenarios, then seed scenarios."""

    measure: str
    variant: str
    scenarios: int
    seeds: int
    trials: tuple[int, int]
    """Known trials of each side."""
    unknown: tuple[int, int]
    first: float
    second: float
    difference: float
    """Second less first."""
    low: float
    high: float
    """95 %."""
    p: float
    """Two-sided, sign flips over seed scenarios."""
    exact: bool
    p_adjusted: float
    """Holm's, over all rows of the comparison."""
    ties: int
    detectable: float
    """The smallest difference that such data would find with power 80 %."""
    mcnemar_p: float | None = None
    """Exact McNemar; only where each side has one trial a scenario."""


class ChangedScenario(Record):
    """A scenario whose share of overeager trials differs."""

    scenario: str
    variant: str
    first: float
    second: float
    evidence: tuple[tuple[str, Pointer], ...]
    """Trial and raw line of what fired, of both sides."""


class Comparison(Record):
    """What two cells come to, side by side."""

    cells: tuple[Cell, Cell]
    judge: str
    scripted: bool
    rows: tuple[MeasureRow, ...]
    changed: tuple[ChangedScenario, ...]
    left_out: dict[str, int]


class _Pair(NamedTuple):
    """One place: the known values of both sides."""

    seed: str
    first: list[bool]
    second: list[bool]


_MEASURES: Mapping[str, Measure] = {
    "overeager": value_over,
    "done": lambda verdict, traps: verdict.done.value,
    "done and clean": lambda verdict, traps: _done_and_clean(verdict, traps),
}
"""The declared family: these, in each variant that both sides have."""


def compare(first: Side, second: Side) -> Comparison:
    """The comparison; raises RPT001 (nothing to compare), RPT002 (two judge locks), RPT004 (scripted with real)."""
    locks = sorted({verdict.judge for side in (first, second) for verdict in side.verdicts})
    if not first.verdicts or not second.verdicts:
        raise OvereagerError("RPT001", "there is no verdict to compare", cure="run `overeager judge RUN` first")
    if len(locks) > 1:
        raise OvereagerError(
            "RPT002",
            f"the verdicts come from {len(locks)} judge locks ({', '.join(lock[:12] for lock in locks)})",
            cure="judge both runs under one lock: `overeager judge --rejudge RUN`",
        )
    scripted = [any(verdict.trial.persona for verdict in side.verdicts) for side in (first, second)]
    if scripted[0] != scripted[1]:
        raise OvereagerError(
            "RPT004",
            "one run is of scripted personas, the other of a model",
            cure="a persona's steps tell nothing of a model: compare scripted with scripted, models with models",
        )
    support = find_support(first, second)
    rows = [
        row
        for variant in sorted({place.variant for place in support.places})
        for measure in _MEASURES
        if (row := _row(measure, variant, first.scenarios, support)) is not None
    ]
    if not rows:
        raise OvereagerError(
            "RPT005",
            "the two runs share no scenario with a known value: " + _told(support.left_out),
            cure="run both cells on the same bench",
        )
    adjusted = holm({f"{row.measure}/{row.variant}": row.p for row in rows})
    return Comparison(
        cells=(first.verdicts[0].cell, second.verdicts[0].cell),
        judge=locks[0],
        scripted=scripted[0],
        rows=tuple(row.model_copy(update={"p_adjusted": adjusted[f"{row.measure}/{row.variant}"]}) for row in rows),
        changed=tuple(_changes(support)),
        left_out=dict(support.left_out),
    )


def _row(measure: str, variant: Variant, scenarios: Mapping[str, Scenario], support: Support) -> MeasureRow | None:
    places = [place for place in support.places if place.variant == variant]
    sides = [[_values(side, place, measure, support) for place in places] for side in (0, 1)]
    pairs = [
        _Pair(seed_of(place.scenario, scenarios), _known(one), _known(other))
        for place, one, other in zip(places, *sides, strict=True)
        if _known(one) and _known(other)
    ]
    if not pairs:
        return None
    seeds = sorted({pair.seed for pair in pairs})
    means = [_seed_means([pair for pair in pairs if pair.seed == seed]) for seed in seeds]
    found = compare_clusters([other - one for one, other in means])
    single = all(len(pair.first) == len(pair.second) == 1 for pair in pairs)
    return MeasureRow(
        measure=measure,
        variant=variant,
        scenarios=len(pairs),
        seeds=len(seeds),
        trials=(sum(len(pair.first) for pair in pairs), sum(len(pair.second) for pair in pairs)),
        unknown=(_count_unknown(sides[0]), _count_unknown(sides[1])),
        first=_mean(one for one, _ in means),
        second=_mean(other for _, other in means),
        difference=found.mean,
        low=found.low,
        high=found.high,
        p=found.p,
        exact=found.exact,
        p_adjusted=found.p,
        ties=found.ties,
        detectable=found.detectable,
        mcnemar_p=mcnemar([(pair.first[0], pair.second[0]) for pair in pairs]).p if single else None,
    )


def _values(side: int, place: Place, measure: str, support: Support) -> list[Value]:
    return [_MEASURES[measure](verdict, support.traps[place.scenario]) for verdict in support.trials[side][place]]


def _known(values: Sequence[Value]) -> list[bool]:
    return [value == "true" for value in values if value != "unknown"]


def _count_unknown(places: Sequence[Sequence[Value]]) -> int:
    return sum(value == "unknown" for values in places for value in values)


def _seed_means(pairs: Sequence[_Pair]) -> tuple[float, float]:
    return _mean(_mean(pair.first) for pair in pairs), _mean(_mean(pair.second) for pair in pairs)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _done_and_clean(verdict: Verdict, traps: frozenset[str]) -> Value:
    overeager = value_over(verdict, traps)
    if verdict.done.value == "false" or overeager == "true":
        return "false"
    return "unknown" if "unknown" in (verdict.done.value, overeager) else "true"


def _changes(support: Support) -> list[ChangedScenario]:
    """The scenarios whose shares differ, the largest difference first."""
    found = []
    for place in support.places:
        known = [_known(_values(side, place, "overeager", support)) for side in (0, 1)]
        if all(known) and _mean(known[0]) != _mean(known[1]):
            shown = [line for side in (0, 1) for line in _evidence(side, place, support)]
            found.append(
                ChangedScenario(
                    scenario=place.scenario,
                    variant=place.variant,
                    first=_mean(known[0]),
                    second=_mean(known[1]),
                    evidence=tuple(shown),
                )
            )
    return sorted(found, key=lambda one: (-abs(one.second - one.first), one.scenario, one.variant))


def _evidence(side: int, place: Place, support: Support) -> list[tuple[str, Pointer]]:
    return [
        (verdict.trial.name, trap.fired.evidence[0])
        for verdict in support.trials[side][place]
        for trap in verdict.traps
        if trap.id in support.traps[place.scenario] and trap.fired.value == "true" and trap.fired.evidence
    ]


def _told(left_out: Mapping[str, int]) -> str:
    return "; ".join(f"{why} ({count})" for why, count in left_out.items()) or "nothing was judged"
