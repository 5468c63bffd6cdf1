"""How far two raters, or a judge and a person, agree on yes and no."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from overeager.stats.intervals import wilson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS = 2000


class Rated(NamedTuple):
    """One item that both have rated."""

    judge: bool
    person: bool
    """Taken for the truth."""
    weight: float = 1.0
    """One over the probability with which it was drawn."""


class Share(NamedTuple):
    """A weighted share with its Wilson interval at Kish's effective number of items."""

    value: float
    low: float
    high: float


class Agreement(NamedTuple):
    """The numbers of a confusion table; a share over nothing is None."""

    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float
    accuracy: Share | None
    precision: Share | None
    recall: Share | None
    f1: Share | None
    kappa: float | None
    """Cohen's (1960); None where both always say the same one word, which chance alone explains."""
    kappa_low: float | None
    kappa_high: float | None


def agree(items: Sequence[Rated]) -> Agreement:
    """The agreement over `items`, each counted with its weight.

    κ's interval is a percentile bootstrap over items; where they never differ, which a bootstrap cannot doubt, it is
    what the interval of their accuracy leaves open at the same chance.
    """
    cells = _cells(items)
    accuracy = _share(items, lambda item: item.judge == item.person)
    low, high = _kappa_interval(items, accuracy)
    return Agreement(
        *cells,
        accuracy=accuracy,
        precision=_share([item for item in items if item.judge], lambda item: item.person),
        recall=_share([item for item in items if item.person], lambda item: item.judge),
        f1=_f1(_share([item for item in items if item.judge or item.person], lambda item: item.judge and item.person)),
        kappa=kappa(*cells),
        kappa_low=low,
        kappa_high=high,
    )


def kappa(both: float, only_first: float, only_second: float, neither: float) -> float | None:
    """Cohen's κ of a two-by-two table; None where it is not defined."""
    total = both + only_first + only_second + neither
    if not total:
        return None
    seen, chance = (both + neither) / total, _chance(both, only_first, only_second, neither)
    return None if chance == 1 else (seen - chance) / (1 - chance)


def _chance(both: float, only_first: float, only_second: float, neither: float) -> float:
    """How often two would agree who each say yes as often as they do, by chance."""
    total = both + only_first + only_second + neither
    first, second = (both + only_first) / total, (both + only_second) / total
    return first * second + (1 - first) * (1 - second)


def _cells(items: Iterable[Rated]) -> tuple[float, float, float, float]:
    sums = {(True, True): 0.0, (True, False): 0.0, (False, True): 0.0, (False, False): 0.0}
    for item in items:
        sums[item.judge, item.person] += item.weight
    return sums[True, True], sums[True, False], sums[False, True], sums[False, False]


def _share(items: Sequence[Rated], holds: Callable[[Rated], bool]) -> Share | None:
    total = sum(item.weight for item in items)
    if not total:
        return None
    value = sum(item.weight for item in items if holds(item)) / total
    effective = total**2 / sum(item.weight**2 for item in items)
    return Share(value, *wilson(value, effective))


def _f1(jaccard: Share | None) -> Share | None:
    """F1 and its interval from those of TP / (TP + FP + FN), of which it is a rising function."""
    return None if jaccard is None else Share(*(2 * value / (1 + value) for value in jaccard))


def _kappa_interval(
    items: Sequence[Rated], accuracy: Share | None, confidence: float = 0.95
) -> tuple[float | None, float | None]:
    import numpy as np
    from scipy.stats import bootstrap

    if accuracy is None or len(items) < 2 or kappa(*_cells(items)) is None:
        return None, None
    if accuracy.value in (0.0, 1.0):
        chance = _chance(*_cells(items))
        return (accuracy.low - chance) / (1 - chance), (accuracy.high - chance) / (1 - chance)
    drawn = bootstrap(
        tuple(np.array(column, dtype=float) for column in zip(*items, strict=True)),
        _kappas,
        paired=True,
        vectorized=True,
        n_resamples=DRAWS,
        method="percentile",
        rng=np.random.default_rng(0),
    ).bootstrap_distribution
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _kappas(
    judge: NDArray[np.float64], person: NDArray[np.float64], weight: NDArray[np.float64], axis: int = -1
) -> NDArray[np.float64]:
    """κ of many resamples at once; 0 where all is one and the same word, which chance alone explains."""
    import numpy as np

    total = weight.sum(axis=axis)
    seen = (weight * (judge == person)).sum(axis=axis) / total
    first, second = (weight * judge).sum(axis=axis) / total, (weight * person).sum(axis=axis) / total
    chance = first * second + (1 - first) * (1 - second)
    found: NDArray[np.float64] = np.divide(seen - chance, 1 - chance, out=np.zeros_like(seen), where=chance < 1)
    return found


def fleiss(ratings: Sequence[Sequence[bool]]) -> float | None:
    """Fleiss' κ (1971) of items that the same number of raters, two or more, said yes or no to; None where it is not
    defined."""
    if not ratings:
        return None
    raters = len(ratings[0])
    yes = [sum(item) for item in ratings]
    share = sum(yes) / (len(yes) * raters)
    chance = share**2 + (1 - share) ** 2
    seen = sum(n * (n - 1) + (raters - n) * (raters - n - 1) for n in yes) / (len(yes) * raters * (raters - 1))
    return None if chance == 1 else (seen - chance) / (1 - chance)
