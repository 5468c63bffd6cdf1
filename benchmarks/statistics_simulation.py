"""Do the intervals cover, and does `compare` cry wolf? Trials drawn under a known truth, clustered by seed scenario.

    python benchmarks/statistics_simulation.py [--draws 10000] [--json]

Each draw is a bench of 24 or 101 seed scenarios with five scenarios each. In each of two cells a seed scenario has a
rate of its own, beta-distributed round the true one, which is the same in both, with an intra-cluster correlation.
Prints how often the 95 % intervals hold the truth (aim: 95 %), the clustered one beside the plain Wilson; and how often
the two cells are told apart at 5 % (aim: 5 % at most), by the sign-flip test over seed scenarios beside McNemar's on
single scenarios. The generator seed is fixed.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overeager.stats.intervals import Cluster, clustered_rate, wilson
from overeager.stats.pairs import compare_clusters, mcnemar

SCENARIOS = 5
"""Of each seed scenario."""
SIGN_DRAWS = 1000
LEVEL = 0.05


class Truth(NamedTuple):
    """What the trials are drawn from."""

    seeds: int
    rate: float
    correlation: float


class Found(NamedTuple):
    """Shares of draws."""

    truth: Truth
    clustered_covers: float
    plain_covers: float
    compare_rejects: float
    mcnemar_rejects: float


TRUTHS = [Truth(*one) for one in itertools.product((24, 101), (0.01, 0.1, 0.3), (0.0, 0.3, 0.8))]


def main() -> None:
    """All truths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = [simulate(truth, options.draws) for truth in TRUTHS]
    if options.json:
        print(json.dumps([{**one._asdict(), "truth": one.truth._asdict()} for one in found], indent=2))
    else:
        print("\n".join(tell(found)))


def simulate(truth: Truth, draws: int) -> Found:
    """The four shares under one truth."""
    chance = np.random.default_rng(20260518)
    covered, plainly, rejected, told_apart = 0, 0, 0, 0
    for _ in range(draws):
        first, second = (chance.random((truth.seeds, SCENARIOS)) < own_rates(truth, chance)[:, None] for _ in range(2))
        rate = clustered_rate([Cluster(float(hits), SCENARIOS) for hits in first.sum(axis=1)])
        assert rate is not None
        low, high = wilson(rate.share, rate.trials)
        covered += rate.low <= truth.rate <= rate.high
        plainly += low <= truth.rate <= high
        differences = second.mean(axis=1) - first.mean(axis=1)
        rejected += compare_clusters(differences.tolist(), draws=SIGN_DRAWS).p <= LEVEL
        told_apart += mcnemar(zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)).p <= LEVEL
    return Found(truth, covered / draws, plainly / draws, rejected / draws, told_apart / draws)


def own_rates(truth: Truth, chance: np.random.Generator) -> NDArray[np.float64]:
    """Each seed scenario's own rate."""
    if not truth.correlation:
        return np.full(truth.seeds, truth.rate)
    spread = 1 / truth.correlation - 1
    return chance.beta(truth.rate * spread, (1 - truth.rate) * spread, truth.seeds)


def tell(found: list[Found]) -> Iterator[str]:
    """A table."""
    yield "seeds  rate  correlation | interval covers: clustered  plain Wilson | told apart: compare  McNemar"
    for one in found:
        yield (
            f"{one.truth.seeds:5d}  {one.truth.rate:4.2f}  {one.truth.correlation:11.1f} | "
            f"{one.clustered_covers:26.3f}  {one.plain_covers:12.3f} | "
            f"{one.compare_rejects:19.3f}  {one.mcnemar_rejects:7.3f}"
        )


if __name__ == "__main__":
    main()
