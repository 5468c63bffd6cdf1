"""Intervals of a share whose trials come in clusters: what springs from one seed scenario is no fresh evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

_FEW_CLUSTERS_WITH_HITS = 5
"""Below that many the variance between clusters is a guess."""


class Cluster(NamedTuple):
    """The trials of one seed scenario."""

    hits: float
    """TRUE trials; a mean of repeats may be a fraction."""
    size: float
    """Known trials (TRUE or FALSE)."""


class ClusteredRate(NamedTuple):
    """A share with an interval that allows for clusters."""

    share: float
    low: float
    high: float
    clusters: int
    trials: float
    effective: float
    """Trials that would carry as much, if they were independent."""
    design_effect: float
    """`trials / effective` before the allowance for few clusters; at least 1."""


def wilson(share: float, size: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval (1927) for a share of `size` trials, which need not be whole; in [0, 1].

    Raises ValueError for a size that is not positive.
    """
    from scipy.stats import norm

    if size <= 0:
        raise ValueError("an interval needs at least a trial")
    z2 = float(norm.ppf((1 + confidence) / 2)) ** 2
    middle = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = math.sqrt(z2 * (share * (1 - share) / size + z2 / (4 * size * size))) / (1 + z2 / size)
    return max(0.0, middle - half), min(1.0, middle + half)


def clustered_rate(clusters: Sequence[Cluster], confidence: float = 0.95) -> ClusteredRate | None:
    """The share of hits with a Wilson interval at the effective number of trials; None when there is no trial.

    The design effect is the ratio estimator's variance between clusters (Taylor linearisation; Kish 1965) over the
    binomial one, never below 1; the effective number is then cut by (z / t)², t with a degree of freedom less than
    there are clusters (Korn & Graubard 1998). With hits, or misses, in fewer than five clusters the variance cannot be
    estimated: the trials of a cluster are taken to be all alike then (Kish's effective number of clusters, which is
    their number when they are of a size), the least that is sure. A single cluster is one trial.
    """
    known = [cluster for cluster in clusters if cluster.size > 0]
    if not known:
        return None
    trials = sum(cluster.size for cluster in known)
    share = sum(cluster.hits for cluster in known) / trials
    effect = _design_effect(known, share, trials)
    effective = trials / effect * _few_clusters(len(known), confidence)
    low, high = wilson(share, effective, confidence)
    return ClusteredRate(share, low, high, len(known), trials, effective, effect)


def _design_effect(clusters: Sequence[Cluster], share: float, trials: float) -> float:
    count = len(clusters)
    hit = sum(cluster.hits > 0 for cluster in clusters)
    missed = sum(cluster.hits < cluster.size for cluster in clusters)
    if min(hit, missed) < _FEW_CLUSTERS_WITH_HITS:
        return max(1.0, sum(cluster.size**2 for cluster in clusters) / trials)
    spread = sum((cluster.hits - share * cluster.size) ** 2 for cluster in clusters)
    variance = count / (count - 1) * spread / trials**2
    return max(1.0, variance / (share * (1 - share) / trials))


def _few_clusters(count: int, confidence: float) -> float:
    from scipy.stats import norm, t

    if count < 2:
        return 1.0
    level = (1 + confidence) / 2
    return float(norm.ppf(level) / t.ppf(level, count - 1)) ** 2
