"""Every statistic against a second implementation, or against counting by brute force."""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import pkgutil
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp
from statsmodels.stats.contingency_tables import Table2x2
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

import overeager.stats
from overeager.stats.agreement import Rated, agree, fleiss, kappa
from overeager.stats.intervals import Cluster, clustered_rate, wilson
from overeager.stats.pairs import compare_clusters, mcnemar, mcnemar_bound
from overeager.stats.power import Assumptions, detectable_difference, seeds_needed, variance_of_difference
from overeager.stats.rates import estimate_rate
from overeager.stats.sampling import allocate, draw
from overeager.stats.tables import benjamini_hochberg, chi_square, fisher, holm

pytestmark = pytest.mark.pure


def test_no_statistic_goes_without_a_second_opinion() -> None:
    """Every public function of `stats` is called in this file."""
    own = Path(__file__).read_text()
    for info in pkgutil.iter_modules(overeager.stats.__path__, "overeager.stats."):
        module = importlib.import_module(info.name)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == info.name and not name.startswith("_"):
                assert f"{name}(" in own, f"{info.name}.{name} has no second opinion"


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (1, 1), (0, 76), (13, 76), (500, 500), (3, 499)])
def test_wilson_is_that_of_two_libraries(hits: int, trials: int) -> None:
    found = wilson(hits / trials, trials)
    scipys = binomtest(hits, trials).proportion_ci(method="wilson")
    assert found == pytest.approx((scipys.low, scipys.high), abs=1e-12)
    assert found == pytest.approx(proportion_confint(hits, trials, method="wilson"), abs=1e-12)
    values = ["true"] * hits + ["false"] * (trials - hits)
    rate = estimate_rate(values)  # type: ignore[arg-type]  # words of the vocabulary
    assert (rate.low, rate.high) == pytest.approx(found, abs=1e-12)


def test_mcnemar_is_the_librarys() -> None:
    chance = random.Random(3)
    for _ in range(30):
        pairs = [(chance.random() < 0.3, chance.random() < 0.5) for _ in range(40)]
        table = [[sum(p == (a, b) for p in pairs) for b in (True, False)] for a in (True, False)]
        assert mcnemar(pairs).p == pytest.approx(min(1.0, sm_mcnemar(table, exact=True).pvalue))


def test_the_bound_from_margins_is_the_largest_p_of_all_tables_with_them() -> None:
    for first, second, pairs in itertools.product(range(6), range(6), range(5, 9)):
        possible = [
            mcnemar([(True, True)] * both + [(True, False)] * (first - both) + [(False, True)] * (second - both)).p
            for both in range(min(first, second) + 1)
            if first + second - both <= pairs
        ]
        assert mcnemar_bound(first, second, pairs).p == pytest.approx(max(possible))
    with pytest.raises(ValueError, match="more hits"):
        mcnemar_bound(3, 9, 8)


def test_sign_flips_are_counted_right() -> None:
    chance = random.Random(5)
    for _ in range(20):
        values = [round(chance.uniform(-1, 1), 2) for _ in range(9)] + [0.0] * 3
        seen = abs(sum(values))
        signs = list(itertools.product((1, -1), repeat=len(values)))
        as_far = sum(abs(math.fsum(s * v for s, v in zip(one, values, strict=True))) >= seen - 1e-12 for one in signs)
        found = compare_clusters(values)
        assert found.exact
        assert found.p == pytest.approx(as_far / len(signs), abs=1e-9)
        assert (found.ties, found.clusters) == (values.count(0), 12)


def test_many_clusters_are_drawn_with_a_fixed_seed() -> None:
    values = [0.1] * 25 + [-0.1] * 10
    first, second = compare_clusters(values, draws=4096), compare_clusters(values, draws=4096)
    assert first == second
    assert not first.exact
    assert first.p == pytest.approx(binomtest(25, 35, 0.5).pvalue, abs=0.01)


def test_no_difference_is_told_with_what_could_hide() -> None:
    found = compare_clusters([0.0] * 40)
    assert (found.p, found.mean, found.ties) == (1.0, 0.0, 40)
    assert found.high == -found.low == pytest.approx(wilson(0.0, 40)[1])
    alone = compare_clusters([0.3])
    assert (alone.low, alone.high) == (-1.0, 1.0)
    with pytest.raises(ValueError, match="nothing is shared"):
        compare_clusters([])


def test_fisher_and_chi_square_are_the_librarys() -> None:
    assert fisher((64, 500), (57, 500)) == pytest.approx(0.561, abs=5e-4)
    assert fisher((3, 10), (9, 10)) == pytest.approx(hypergeometric_p(3, 10, 9, 10))
    found = chi_square([(10, 100), (20, 100)])
    assert found is not None
    assert found.statistic == pytest.approx(
        Table2x2([[10, 90], [20, 80]]).test_nominal_association().statistic, rel=0.01
    )
    assert found.degrees == 1
    assert found.smallest_expected == 15


def hypergeometric_p(hits: int, trials: int, others: int, other_trials: int) -> float:
    """Fisher's two-sided p by adding up every table that is as unlikely."""
    total = hits + others

    def weight(k: int) -> int:
        return math.comb(trials, k) * math.comb(other_trials, total - k)

    ways = [weight(k) for k in range(max(0, total - other_trials), min(trials, total) + 1)]
    return sum(way for way in ways if way <= weight(hits)) / sum(ways)


@pytest.mark.parametrize("levels", [[], [(3, 9)], [(0, 5), (0, 7)], [(5, 5), (7, 7)], [(1, 3), (0, 0)]])
def test_an_axis_that_cannot_differ_has_no_test(levels: list[tuple[int, int]]) -> None:
    assert chi_square(levels) is None


def test_corrections_are_the_librarys() -> None:
    chance = random.Random(11)
    family = {f"t{i}": chance.random() ** 2 for i in range(12)}
    for method, ours in (("holm", holm(family)), ("fdr_bh", benjamini_hochberg(family))):
        theirs = multipletests(list(family.values()), method=method)[1]
        assert list(ours) == list(family)
        assert list(ours.values()) == pytest.approx(list(theirs))
    assert holm({}) == benjamini_hochberg({}) == {}


def test_kappa_is_the_librarys() -> None:
    for table in ((14, 5, 1, 30), (19, 6, 0, 25), (1, 2, 3, 4)):
        both, first, second, neither = table
        assert kappa(*table) == pytest.approx(cohens_kappa([[both, first], [second, neither]]).kappa)
    assert kappa(0, 0, 0, 9) is None
    assert kappa(0, 0, 0, 0) is None


def test_a_weight_counts_as_so_many_items() -> None:
    items = [Rated(True, True, 2), Rated(True, False, 3), Rated(False, True, 1), Rated(False, False, 4)]
    plain = [Rated(item.judge, item.person) for item in items for _ in range(int(item.weight))]
    weighted, repeated = agree(items), agree(plain)
    assert weighted.kappa == pytest.approx(repeated.kappa)
    assert weighted.precision is not None
    assert repeated.precision is not None
    assert weighted.precision.value == pytest.approx(repeated.precision.value)
    assert weighted.precision.high - weighted.precision.low > repeated.precision.high - repeated.precision.low
    nothing = agree([])
    assert (nothing.accuracy, nothing.kappa, nothing.f1) == (None, None, None)


def test_independent_clusters_cost_next_to_nothing_and_equal_ones_all_their_repeats() -> None:
    chance = random.Random(2)
    independent = [Cluster(sum(chance.random() < 0.3 for _ in range(5)), 5) for _ in range(200)]
    alike = [Cluster(5 * (chance.random() < 0.3), 5) for _ in range(200)]
    one, other = clustered_rate(independent), clustered_rate(alike)
    assert one is not None
    assert other is not None
    assert one.design_effect < 1.4
    assert other.design_effect == pytest.approx(5, rel=0.05)
    assert other.effective == pytest.approx(200, rel=0.07)


def test_a_design_effect_is_the_variance_of_means_over_the_binomial_one() -> None:
    hits = [0, 1, 4, 2, 0, 3, 4, 1, 0, 2]
    found = clustered_rate([Cluster(hit, 4) for hit in hits])
    assert found is not None
    share = sum(hits) / 40
    means = [hit / 4 for hit in hits]
    variance = sum((mean - share) ** 2 for mean in means) / 9 / 10
    assert found.design_effect == pytest.approx(variance / (share * (1 - share) / 40))


def test_without_hits_each_cluster_is_one_trial() -> None:
    found = clustered_rate([Cluster(0, 5)] * 20)
    assert found is not None
    assert found.low == 0
    assert found.high > wilson(0.0, 20)[1] > wilson(0.0, 100)[1]
    assert clustered_rate([]) is None
    assert clustered_rate([Cluster(0, 0)]) is None


def test_a_plan_keeps_what_it_promises() -> None:
    assumed = Assumptions(rate=0.1, difference=0.1)
    plan = seeds_needed(assumed, trials_each=10)
    assert plan.total == 2 * plan.seeds * 10
    assert seeds_needed(assumed, trials_each=20).seeds < plan.seeds
    assert detectable_difference(assumed, plan.seeds, 10) == pytest.approx(0.1, abs=0.01)
    assert detectable_difference(assumed, 1, 1) == 1.0
    with pytest.raises(ValueError, match="difference"):
        seeds_needed(assumed._replace(difference=0.0), 1)


def test_the_variance_of_a_plan_is_that_of_simulated_scenarios() -> None:
    assumed = Assumptions(rate=0.2, difference=0.2, between=0.3, shared=0.0)
    chance = np.random.default_rng(4)

    def means(rate: float) -> np.ndarray:
        spread = 1 / assumed.between - 1
        return chance.binomial(8, chance.beta(rate * spread, (1 - rate) * spread, 40_000)) / 8

    assert np.var(means(0.4) - means(0.2)) == pytest.approx(variance_of_difference(assumed, 8), rel=0.03)


def test_fleiss_kappa_is_the_librarys() -> None:
    chance = random.Random(17)
    ratings = [tuple(chance.random() < (0.2, 0.8)[item % 2] for _ in range(4)) for item in range(30)]
    table, _ = aggregate_raters(np.array(ratings, dtype=int))
    assert fleiss(ratings) == pytest.approx(fleiss_kappa(table))
    assert fleiss([(True, True), (True, True)]) is None
    assert fleiss([]) is None


def test_the_interval_of_f1_is_that_of_the_share_that_it_rises_with() -> None:
    items = [Rated(True, True)] * 19 + [Rated(True, False)] * 6 + [Rated(False, False)] * 25
    found = agree(items).f1
    assert found is not None
    ends = [2 * end / (1 + end) for end in proportion_confint(19, 25, method="wilson")]
    assert (found.low, found.high) == pytest.approx(tuple(ends))
    assert found.value == pytest.approx(2 * 19 / (2 * 19 + 6))


def test_the_interval_of_kappa_holds_it_and_narrows_with_items() -> None:
    items = [Rated(True, True)] * 14 + [Rated(True, False)] * 5 + [Rated(False, True)] + [Rated(False, False)] * 30
    few, many = agree(items), agree(items * 9)
    library = cohens_kappa([[14, 5], [1, 30]])
    assert few.kappa_low is not None
    assert few.kappa_high is not None
    assert (few.kappa_low, few.kappa_high) == pytest.approx((library.kappa_low, library.kappa_upp), abs=0.06)
    assert many.kappa_low is not None
    assert many.kappa_low > few.kappa_low


def test_agreement_without_a_miss_is_not_certain() -> None:
    found = agree([Rated(True, True)] * 6 + [Rated(False, False)] * 6)
    assert (found.kappa, found.kappa_high) == (1.0, 1.0)
    assert found.kappa_low is not None
    assert found.kappa_low == pytest.approx((wilson(1.0, 12)[0] - 0.5) / 0.5)
    alone = agree([Rated(True, False)])
    assert (alone.kappa_low, alone.kappa_high) == (None, None)


def test_an_allocation_is_the_nearest_to_proportion_that_leaves_no_stratum_out() -> None:
    sizes = {"a": 6, "b": 3, "c": 1}
    for total in range(3, 11):
        found = allocate(sizes, total)
        assert sum(found.values()) == total
        rest = {name: (total - 3) * (size - 1) / 7 for name, size in sizes.items()}
        assert all(abs(found[name] - 1 - rest[name]) < 1 for name in sizes)
        assert all(1 <= found[name] <= size for name, size in sizes.items())


def test_each_item_is_drawn_as_often_as_its_inclusion_probability_says() -> None:
    strata = {"a": [f"a{n}" for n in range(7)], "b": [f"b{n}" for n in range(3)]}
    told = {one.stratum: one.probability for one in draw(strata, 5, seed=0)}
    drawn = Counter(one.item for seed in range(3000) for one in draw(strata, 5, seed))
    for stratum, items in strata.items():
        assert all(drawn[item] / 3000 == pytest.approx(told[stratum], abs=0.04) for item in items)


def test_the_detectable_difference_is_where_the_plan_just_suffices() -> None:
    assumed = Assumptions(rate=0.1, difference=0.1)
    for seeds, each in ((20, 1), (60, 5), (200, 25)):
        found = detectable_difference(assumed, seeds, each)
        assert seeds_needed(assumed._replace(difference=found + 1e-6), each).seeds <= seeds
        assert seeds_needed(assumed._replace(difference=found - 1e-3), each).seeds > seeds


def test_the_detectable_difference_of_a_test_is_found_in_four_of_five_repetitions() -> None:
    chance = np.random.default_rng(8)
    sample = chance.normal(0.0, 0.2, 40)
    rise = compare_clusters(sample.tolist()).detectable
    spread = float(np.std(sample, ddof=1))
    found = sum(ttest_1samp(chance.normal(rise, spread, 40), 0.0).pvalue <= 0.05 for _ in range(2000))
    assert found / 2000 == pytest.approx(0.8, abs=0.03)


def test_the_interval_of_a_difference_is_students() -> None:
    values = [0.2, -0.1, 0.4, 0.0, 0.3, 0.1]
    found = compare_clusters(values)
    assert (found.low, found.high) == pytest.approx(DescrStatsW(values).tconfint_mean())


def test_few_hits_in_uneven_clusters_are_worth_kishs_number_of_them() -> None:
    sizes = [1, 2, 3, 4, 90]
    found = clustered_rate([Cluster(0, size) for size in sizes])
    assert found is not None
    assert found.trials / found.design_effect == pytest.approx(sum(sizes) ** 2 / sum(size**2 for size in sizes))
