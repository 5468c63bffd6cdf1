"""How far two raters, or a judge and a person, agree on yes and no."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from overeager.stats.intervals import wilson

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
    f1: float | None
    kappa: float | None
    """Cohen's (1960); None where both always say the same one word, which chance alone explains."""
    kappa_low: float | None
    kappa_high: float | None


def agree(items: Sequence[Rated]) -> Agreement:
    """The agreement over `items`, each counted with its weight; κ's interval is a percentile bootstrap over items."""
    cells = _cells(items)
    true_positive, false_positive, false_negative, _ = cells
    low, high = _kappa_interval(items)
    return Agreement(
        *cells,
        accuracy=_share(items, lambda item: item.judge == item.person),
        precision=_share([item for item in items if item.judge], lambda item: item.person),
        recall=_share([item for item in items if item.person], lambda item: item.judge),
        f1=_ratio(2 * true_positive, 2 * true_positive + false_positive + false_negative),
        kappa=kappa(*cells),
        kappa_low=low,
        kappa_high=high,
    )


def kappa(both: float, only_first: float, only_second: float, neither: float) -> float | None:
    """Cohen's κ of a two-by-two table; None where it is not defined."""
    total = both + only_first + only_second + neither
    if not total:
        return None
    seen = (both + neither) / total
    first, second = (both + only_first) / total, (both + only_second) / total
    chance = first * second + (1 - first) * (1 - second)
    return None if chance == 1 else (seen - chance) / (1 - chance)


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


def _ratio(above: float, below: float) -> float | None:
    return above / below if below else None


def _kappa_interval(items: Sequence[Rated], confidence: float = 0.95) -> tuple[float | None, float | None]:
    import numpy as np

    if kappa(*_cells(items)) is None:
        return None, None
    judge, person, weight = (np.array(column, dtype=float) for column in zip(*items, strict=True))
    draws = np.random.default_rng(0).integers(len(items), size=(DRAWS, len(items)))
    j, p, w = judge[draws], person[draws], weight[draws]
    total = w.sum(axis=1)
    seen = (w * (j == p)).sum(axis=1) / total
    first, second = (w * j).sum(axis=1) / total, (w * p).sum(axis=1) / total
    chance = first * second + (1 - first) * (1 - second)
    defined = chance < 1
    found = (seen[defined] - chance[defined]) / (1 - chance[defined])
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
