"""The paper's numbers from its counts (facts: arXiv 2605.18583, Tables 1 and 11, re-annotation)."""

from __future__ import annotations

import pytest

from overeager.stats.agreement import Rated, agree, kappa
from overeager.stats.intervals import wilson
from overeager.stats.pairs import mcnemar_bound
from overeager.stats.tables import fisher

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("kept", "stripped", "p"), [(0, 13, 2.4e-4), (3, 16, 4.4e-3), (3, 12, 3.5e-2)], ids=["glm", "minimax", "sonnet"]
)
def test_table_1_follows_from_its_margins(kept: int, stripped: int, p: float) -> None:
    found = mcnemar_bound(kept, stripped, 76)
    assert (found.only_first, found.only_second) == (kept, stripped)
    assert float(f"{found.p:.1e}") == p


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [
        (0, 76, 0.0, 4.8), (3, 76, 1.4, 11.0), (13, 76, 10.3, 27.1), (16, 76, 13.4, 31.5), (12, 76, 9.3, 25.6),
        (64, 500, 10.2, 16.0), (59, 500, 9.3, 14.9), (67, 497, 10.8, 16.8), (33, 500, 4.7, 9.1), (27, 500, 3.7, 7.7),
    ],
)  # fmt: skip
def test_wilson_intervals_that_fit_their_rates(hits: int, trials: int, low: float, high: float) -> None:
    found = wilson(hits / trials, trials)
    assert (round(100 * found[0], 1), round(100 * found[1], 1)) == (low, high)


def test_table_11_follows_from_its_counts() -> None:
    seeds = {42: (64, 500), 7: (57, 500), 13: (62, 500)}
    found = [round(fisher(seeds[one], seeds[other]), 3) for one, other in ((42, 7), (42, 13), (7, 13))]
    assert found == [0.561, 0.924, 0.696]


def test_the_re_annotation_follows_from_its_table() -> None:
    table = [(True, True, 19), (True, False, 6), (False, False, 25)]
    found = agree([Rated(judge, person) for judge, person, count in table for _ in range(count)])
    assert found.precision is not None
    assert found.recall is not None
    assert found.accuracy is not None
    assert found.f1 is not None
    assert (found.precision.value, found.recall.value, found.accuracy.value) == (0.76, 1.0, 0.88)
    assert round(found.f1.value, 3) == 0.864


def test_the_papers_kappa_is_that_of_its_two_annotators_not_of_the_judges_table() -> None:
    """κ 0.7345 at an agreement of 88 % fits one table of 50 runs only (up to who is who), and that is another one."""
    assert kappa(19, 6, 0, 25) == pytest.approx(0.76)
    fitting = {
        (both, 6 - only, only, 44 - both)
        for both in range(45)
        for only in range(7)
        if round(kappa(both, 6 - only, only, 44 - both) or 0.0, 4) == 0.7345
    }
    assert {frozenset((table[0], table[3])) for table in fitting} == {frozenset((14, 30))}
    assert {frozenset(table[1:3]) for table in fitting} == {frozenset((1, 5))}
