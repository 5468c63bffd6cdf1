"""Do the intervals cover, and does `compare` cry wolf? Trials drawn under a known truth, clustered by seed scenario.

    python benchmarks/statistics_simulation.py [--draws 10000] [--jobs 1] [--json]

Each draw is a bench of 8, 24 or 101 seed scenarios with five scenarios each, or with one to nine (`uneven`). In each of
two cells a seed scenario has a rate of its own, beta-distributed round the true one, which is the same in both, with an
intra-cluster correlation. Prints how often the 95 % intervals hold the truth (aim: 95 %), the clustered one beside the
plain Wilson, and that of the difference; and how often the two cells are told apart at 5 % (aim: 5 % at most), by the
sign-flip test over seed scenarios beside McNemar's on single scenarios. The generator seed is fixed.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overeager.stats.intervals import Cluster, clustered_rate, wilson
from overeager.stats.pairs import compare_clusters, mcnemar

SCENARIOS = 5
"""Of each seed scenario, in the mean."""
SIGN_DRAWS = 1000
LEVEL = 0.05
GENERATOR_SEED = 20260518


class Truth(NamedTuple):
    """What the trials are drawn from."""

    seeds: int
    rate: float
    correlation: float
    uneven: bool = False


class Found(NamedTuple):
    """Shares of draws."""

    truth: Truth
    clustered_covers: float
    plain_covers: float
    difference_covers: float
    compare_rejects: float
    mcnemar_rejects: float


TRUTHS = [
    *(Truth(*one) for one in itertools.product((8, 24, 101), (0.01, 0.1, 0.3), (0.0, 0.3, 0.8))),
    *(Truth(*one, uneven=True) for one in itertools.product((24, 101), (0.01, 0.1, 0.3), (0.3,))),
]


def main() -> None:
    """All truths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        found = list(pool.map(partial(simulate, draws=options.draws), TRUTHS))
    if options.json:
        print(json.dumps([{**one._asdict(), "truth": one.truth._asdict()} for one in found], indent=2))
    else:
        print("\n".join(tell(found, options.draws)))


def simulate(truth: Truth, draws: int) -> Found:
    """The five shares under one truth."""
    chance = np.random.default_rng(GENERATOR_SEED)
    sizes = scenario_counts(truth)
    owner = np.repeat(np.arange(truth.seeds), sizes)
    """The seed scenario of each scenario."""
    tally = np.zeros(5)
    for _ in range(draws):
        sides = [chance.random(len(owner)) < own_rates(truth, chance)[owner] for _ in range(2)]
        hits = [np.bincount(owner, side, truth.seeds) for side in sides]
        tally += [*covered(truth, sizes, hits[0]), *told_apart(sides, (hits[1] - hits[0]) / sizes)]
    return Found(truth, *(tally / draws).tolist())


def scenario_counts(truth: Truth) -> NDArray[np.int64]:
    """How many scenarios each seed scenario has; five in the mean."""
    if not truth.uneven:
        return np.full(truth.seeds, SCENARIOS)
    return 1 + np.arange(truth.seeds) % (2 * SCENARIOS - 1)


def covered(truth: Truth, sizes: NDArray[np.int64], hits: NDArray[np.float64]) -> tuple[bool, bool]:
    """Whether the clustered and the plain interval of one cell hold the true rate."""
    rate = clustered_rate([Cluster(*one) for one in zip(hits.tolist(), sizes.tolist(), strict=True)])
    assert rate is not None
    low, high = wilson(rate.share, rate.trials)
    return rate.low <= truth.rate <= rate.high, low <= truth.rate <= high


def told_apart(sides: list[NDArray[np.bool_]], differences: NDArray[np.float64]) -> tuple[bool, bool, bool]:
    """Whether the interval of the difference holds nil, and whether either test finds a difference."""
    found = compare_clusters(differences.tolist(), draws=SIGN_DRAWS)
    single = mcnemar(zip(sides[0].tolist(), sides[1].tolist(), strict=True))
    return found.low <= 0 <= found.high, found.p <= LEVEL, single.p <= LEVEL


def own_rates(truth: Truth, chance: np.random.Generator) -> NDArray[np.float64]:
    """Each seed scenario's own rate."""
    if not truth.correlation:
        return np.full(truth.seeds, truth.rate)
    spread = 1 / truth.correlation - 1
    return chance.beta(truth.rate * spread, (1 - truth.rate) * spread, truth.seeds)


def tell(found: list[Found], draws: int) -> Iterator[str]:
    """A Markdown table."""
    yield f"{draws} draws, generator seed {GENERATOR_SEED}\n"
    yield (
        "| seed scenarios | rate | correlation | clustered covers | plain Wilson covers | difference covers "
        "| `compare` rejects | plain McNemar rejects |"
    )
    yield "|---" * 8 + "|"
    for one in found:
        truth, shares = one.truth, one[1:]
        size = f"{truth.seeds}, uneven" if truth.uneven else str(truth.seeds)
        cells = [size, f"{truth.rate:.2f}", f"{truth.correlation:.1f}", *(f"{share:.3f}" for share in shares)]
        yield "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
