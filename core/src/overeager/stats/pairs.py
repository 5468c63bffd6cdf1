"""Two sides that share their scenarios: consent kept against stripped, or one cell against another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_EXACT = 1 << 18
"""Sign patterns that are all looked at; beyond, as many are drawn."""

_SAME = 1e-9
"""Differences so alike show no spread, which few clusters may do by chance."""


class McNemar(NamedTuple):
    """Discordant pairs and what they say."""

    only_first: int
    only_second: int
    p: float
    """Two-sided, exact; 1 when no pair disagrees."""


class Difference(NamedTuple):
    """A mean difference between two sides, seed scenario by seed scenario."""

    mean: float
    """Second less first, macro over seed scenarios."""
    low: float
    high: float
    p: float
    """Two-sided sign-flip permutation; 1 when nothing differs."""
    clusters: int
    ties: int
    """Seed scenarios without a difference."""
    exact: bool
    """Whether every sign pattern was looked at."""
    detectable: float
    """The smallest difference that such data would find in four of five repetitions."""


def mcnemar(pairs: Iterable[tuple[bool, bool]]) -> McNemar:
    """McNemar's test in its exact form (1947): the discordant pairs as a binomial with probability one half."""
    pairs = list(pairs)
    first = sum(one and not other for one, other in pairs)
    second = sum(other and not one for one, other in pairs)
    return McNemar(first, second, _binomial(first, second))


def mcnemar_bound(first: int, second: int, pairs: int) -> McNemar:
    """The largest p that the margins allow: as few pairs as can be hit on both sides; for when pairs are not known.

    `first` and `second` are hits of each side over `pairs` pairs; raises ValueError when they cannot be.
    """
    if not (0 <= first <= pairs and 0 <= second <= pairs):
        raise ValueError("more hits than pairs")
    both = max(0, first + second - pairs)
    return McNemar(first - both, second - both, _binomial(first - both, second - both))


def compare_clusters(differences: Sequence[float], confidence: float = 0.95, draws: int = MOST_EXACT) -> Difference:
    """What the differences of the seed scenarios, each a mean over its scenarios and repeats, come to.

    p is that of the sign-flip permutation test of the mean (Fisher 1935), exact while there are at most `draws` sign
    patterns, else over `draws` drawn with a fixed generator seed. The interval is Student's; where all clusters agree
    it is what so many could hide at most (Wilson at nil). Raises ValueError without a difference.
    """
    import numpy as np

    values = np.asarray(differences, dtype=float)
    count = len(values)
    if count == 0:
        raise ValueError("nothing is shared, so nothing can be compared")
    ties = int((values == 0).sum())
    if ties == count:
        low, high = _hidden(count, confidence)
        return Difference(0.0, low, high, 1.0, count, ties, exact=True, detectable=high)
    p, exact = _flip_signs(values[values != 0], draws)
    low, high, detectable = _student(values.tolist(), confidence)
    return Difference(float(values.mean()), low, high, p, count, ties, exact, detectable)


def _flip_signs(values: NDArray[np.float64], draws: int) -> tuple[float, bool]:
    """p of the sum over patterns of signs, and whether all were looked at; values of nil would not move it."""
    import numpy as np
    from scipy.stats import permutation_test

    exact = 2 ** len(values) <= draws
    if len(values) < 2:
        return 1.0, exact
    test = permutation_test(
        (values,),
        lambda sample, axis: np.sum(sample, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf if exact else draws,
        rng=np.random.default_rng(0),
    )
    return float(test.pvalue), exact


def _binomial(first: int, second: int) -> float:
    from scipy.stats import binomtest

    return float(binomtest(first, first + second, 0.5).pvalue) if first + second else 1.0


def _hidden(count: int, confidence: float) -> tuple[float, float]:
    from overeager.stats.intervals import wilson

    most = wilson(0.0, count, confidence)[1]
    return -most, most


def _student(values: Sequence[float], confidence: float, power: float = 0.8) -> tuple[float, float, float]:
    """Interval of the mean and the difference that would be found with `power`; a single value says nothing."""
    from scipy.stats import sem, t, ttest_1samp

    count = len(values)
    if count < 2:
        return -1.0, 1.0, 1.0
    mean = sum(values) / count
    if max(values) - min(values) < _SAME:
        low, high = _hidden(count, confidence)
        return max(-1.0, mean + low), min(1.0, mean + high), high
    interval = ttest_1samp(values, 0.0).confidence_interval(confidence)
    quantiles = float(t.ppf((1 + confidence) / 2, count - 1) + t.ppf(power, count - 1))
    return max(-1.0, float(interval.low)), min(1.0, float(interval.high)), quantiles * float(sem(values))
