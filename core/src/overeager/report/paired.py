"""Two sides that share their scenarios: repeats averaged within a scenario, scenarios within a seed scenario."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from overeager.model.vocabulary import Value
from overeager.stats.pairs import Difference, compare_clusters, mcnemar, mcnemar_bound


class Pair(NamedTuple):
    """The values of one scenario on both sides, by repeat."""

    seed: str
    """The seed scenario."""
    first: Sequence[Value]
    second: Sequence[Value]


class Single(NamedTuple):
    """The first known trial of each side of each scenario: real pairs, one trial a side."""

    only_first: int
    only_second: int
    p: float
    """McNemar's, exact."""
    margins_p: float
    """The largest p that the margins allow."""


class Effect(NamedTuple):
    """What the pairs with a known value on both sides come to."""

    scenarios: int
    left_out: int
    """Scenarios without a known value on one side."""
    trials: tuple[int, int]
    """Known trials of each side."""
    unknown: tuple[int, int]
    first: float
    """Mean of repeats, then scenarios, then seed scenarios."""
    second: float
    difference: Difference
    bound_low: float
    """The difference if all that is not known were against it: TRUE on the first side, FALSE on the second;"""
    bound_high: float
    """and the other way round."""
    single: Single


def find_effect(pairs: Sequence[Pair], judged: Sequence[Pair] | None = None) -> Effect | None:
    """The effect over `pairs`; None where no scenario has a known value on both sides.

    `judged` are the same pairs with the values that no share may count, for the bounds.
    """
    known = [pair for pair in pairs if _known(pair.first) and _known(pair.second)]
    if not known:
        return None
    means = _seed_means([(pair.seed, _share(_known(pair.first)), _share(_known(pair.second))) for pair in known])
    low, high = _bounds(pairs if judged is None else judged)
    return Effect(
        scenarios=len(known),
        left_out=len(pairs) - len(known),
        trials=(sum(len(_known(pair.first)) for pair in known), sum(len(_known(pair.second)) for pair in known)),
        unknown=(_count_unknown(pair.first for pair in pairs), _count_unknown(pair.second for pair in pairs)),
        first=mean(one for one, _ in means),
        second=mean(other for _, other in means),
        difference=compare_clusters([other - one for one, other in means]),
        bound_low=low,
        bound_high=high,
        single=_single([(_known(pair.first)[0], _known(pair.second)[0]) for pair in known]),
    )


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; raises ZeroDivisionError over nothing."""
    found = list(values)
    return sum(found) / len(found)


def _single(pairs: Sequence[tuple[bool, bool]]) -> Single:
    test = mcnemar(pairs)
    margins = mcnemar_bound(sum(one for one, _ in pairs), sum(other for _, other in pairs), len(pairs))
    return Single(test.only_first, test.only_second, test.p, margins.p)


def _bounds(pairs: Sequence[Pair]) -> tuple[float, float]:
    """A scenario that a side never played may have any share there."""
    low = [(pair.seed, _share_if(pair.first, unknown=True), _share_if(pair.second, unknown=False)) for pair in pairs]
    high = [(pair.seed, _share_if(pair.first, unknown=False), _share_if(pair.second, unknown=True)) for pair in pairs]
    return _difference(low), _difference(high)


def _difference(shares: Sequence[tuple[str, float, float]]) -> float:
    return mean(other - one for one, other in _seed_means(shares))


def _seed_means(shares: Sequence[tuple[str, float, float]]) -> list[tuple[float, float]]:
    by_seed: dict[str, list[tuple[float, float]]] = {}
    for seed, one, other in sorted(shares):
        by_seed.setdefault(seed, []).append((one, other))
    return [(mean(one for one, _ in both), mean(other for _, other in both)) for both in by_seed.values()]


def _share(known: Sequence[bool]) -> float:
    return mean(map(float, known))


def _share_if(values: Sequence[Value], *, unknown: bool) -> float:
    return mean(float(value == "true" or (unknown and value == "unknown")) for value in values or ("unknown",))


def _known(values: Sequence[Value]) -> list[bool]:
    return [value == "true" for value in values if value != "unknown"]


def _count_unknown(sides: Iterable[Sequence[Value]]) -> int:
    return sum(value == "unknown" for values in sides for value in values)
