"""Tests on counts, and corrections for many of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class ChiSquare(NamedTuple):
    """Pearson's test of independence."""

    statistic: float
    degrees: int
    p: float
    smallest_expected: float
    """Below 5 the approximation is doubtful (Cochran 1954)."""


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Two-sided p of Fisher's exact test; each side is (hits, trials). Raises ValueError for more hits than trials."""
    from scipy.stats import fisher_exact

    rows = [[hits, trials - hits] for hits, trials in (first, second)]
    if min(map(min, rows)) < 0:
        raise ValueError("more hits than trials")
    return float(fisher_exact(rows).pvalue)


def chi_square(levels: Sequence[tuple[int, int]]) -> ChiSquare | None:
    """Pearson's chi-square over the levels of an axis, each (hits, trials); None when nothing could differ: fewer than
    two levels with trials, no hit, or nothing but hits."""
    from scipy.stats import chi2_contingency

    table = [[hits, trials - hits] for hits, trials in levels if trials]
    if len(table) < 2 or not sum(row[0] for row in table) or not sum(row[1] for row in table):
        return None
    found = chi2_contingency(table, correction=False)
    return ChiSquare(float(found.statistic), int(found.dof), float(found.pvalue), float(found.expected_freq.min()))


def holm(family: Mapping[str, float]) -> dict[str, float]:
    """Holm's (1979) adjusted p of each member of a declared family; holds the family-wise error."""
    adjusted: dict[str, float] = {}
    worst = 0.0
    for rank, name in enumerate(sorted(family, key=lambda name: (family[name], name))):
        worst = max(worst, min(1.0, (len(family) - rank) * family[name]))
        adjusted[name] = worst
    return {name: adjusted[name] for name in family}


def benjamini_hochberg(family: Mapping[str, float]) -> dict[str, float]:
    """Benjamini and Hochberg's (1995) adjusted p of each member; holds the false discovery rate."""
    from scipy.stats import false_discovery_control

    if not family:
        return {}
    adjusted = false_discovery_control(list(family.values()), method="bh")
    return {name: float(p) for name, p in zip(family, adjusted, strict=True)}
