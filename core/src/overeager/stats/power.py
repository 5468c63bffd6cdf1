"""How many scenarios and repeats a difference needs, and what a plan can find."""

from __future__ import annotations

import math
from typing import NamedTuple

_LEAST_SEEDS = 6
"""With fewer, no pattern of signs has a two-sided p below 0.05."""
_SMALLEST = 1e-6
"""Rise below which nothing is looked for."""


class Assumptions(NamedTuple):
    """What a plan rests on."""

    rate: float
    """Expected share of hits on the first side."""
    difference: float
    """Smallest difference that matters; second less first."""
    between: float = 0.25
    """Correlation of two trials of one seed scenario in one cell (intra-cluster correlation)."""
    shared: float = 0.5
    """Correlation of a seed scenario's rates on the two sides: scenarios that are hard for one are hard for both."""
    alpha: float = 0.05
    power: float = 0.8


class Plan(NamedTuple):
    """One way to spend trials."""

    seeds: int
    """Seed scenarios."""
    trials_each: int
    """Trials of each seed scenario on each side: its scenarios times repeats."""
    total: int
    """Trials on both sides together."""


def variance_of_difference(assumed: Assumptions, trials_each: int) -> float:
    """Variance of one seed scenario's difference of two means of `trials_each` trials (beta-binomial model)."""
    other = assumed.rate + assumed.difference
    total = 0.0
    between: list[float] = []
    for rate in (assumed.rate, other):
        spread = rate * (1 - rate)
        between.append(spread * assumed.between)
        total += between[-1] + spread * (1 - assumed.between) / trials_each
    return total - 2 * assumed.shared * math.sqrt(between[0] * between[1])


def seeds_needed(assumed: Assumptions, trials_each: int) -> Plan:
    """The least number of seed scenarios with which the paired test finds the difference; raises ValueError for what
    is no share, no correlation or no difference."""
    _check(assumed)
    seeds = max(math.ceil(_seeds(assumed, trials_each)), _LEAST_SEEDS)
    return Plan(seeds, trials_each, 2 * seeds * trials_each)


def _seeds(assumed: Assumptions, trials_each: int) -> float:
    """The number of seed scenarios before it is rounded (normal approximation of a paired test of means)."""
    from scipy.stats import norm

    quantiles = float(norm.ppf(1 - assumed.alpha / 2) + norm.ppf(assumed.power))
    return quantiles**2 * variance_of_difference(assumed, trials_each) / assumed.difference**2


def _check(assumed: Assumptions) -> None:
    if not (assumed.difference**2):  # also where it is too small for a number
        raise ValueError("a plan needs a difference")
    shares = {"rate": assumed.rate, "rate + difference": assumed.rate + assumed.difference, "between": assumed.between}
    wrong = [f"{name} = {value:g}" for name, value in shares.items() if not 0 <= value <= 1]
    wrong += [f"{name} = {value:g}" for name, value in _levels(assumed) if not 0 < value < 1]
    wrong += [f"shared = {assumed.shared:g}"] if not -1 <= assumed.shared <= 1 else []
    if wrong:
        raise ValueError(f"not between 0 and 1: {', '.join(wrong)}")


def _levels(assumed: Assumptions) -> tuple[tuple[str, float], ...]:
    return ("alpha", assumed.alpha), ("power", assumed.power)


def detectable_difference(assumed: Assumptions, seeds: int, trials_each: int) -> float:
    """The smallest rise that `seeds` seed scenarios would show with the assumed power; in (0, 1].

    A root is looked for, since the variance depends on the difference; 1.0 when none can be shown.
    """
    from scipy.optimize import brentq

    _check(assumed)
    highest = 1.0 - assumed.rate
    if not highest or seeds < _LEAST_SEEDS or _seeds(assumed._replace(difference=highest), trials_each) > seeds:
        return 1.0

    def missing(rise: float) -> float:
        return _seeds(assumed._replace(difference=rise), trials_each) - seeds

    return _SMALLEST if missing(_SMALLEST) <= 0 else float(brentq(missing, _SMALLEST, highest))
