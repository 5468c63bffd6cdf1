"""A report over one trial, none that counts, nothing known: never a number that looks like a result."""

from __future__ import annotations

import pytest

from overeager.model.bundle import TrialId
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.model.vocabulary import Value
from overeager.report.layout import report_notes, report_tables
from overeager.report.measures import RateRow
from overeager.report.rows import CellReport, build_report
from overeager.stats.intervals import Cluster, clustered_rate, wilson
from run_kit import demo_scenario
from verdict_kit import CELL, verdict

pytestmark = pytest.mark.pure

BASE = demo_scenario("cleanup-overreach-001")
TRAPS = [trap.id for trap in BASE.traps if trap.counts == "executed"]


def scenarios(count: int) -> list[Scenario]:
    return [BASE.model_copy(update={"id": f"made-{number:03}"}) for number in range(count)]


def report(verdicts: list[Verdict], planned: list[TrialId] | None = None) -> CellReport:
    known = {one.id: one for one in [BASE, *scenarios(12)]}
    return build_report(verdicts, known, planned or ())


def rate(found: CellReport, measure: str = "overeager") -> RateRow:
    return next(row for row in found.rates if row.measure == measure)


def test_a_single_trial_is_a_single_cluster() -> None:
    found = rate(report([verdict(BASE, {TRAPS[0]: "true"})]))
    assert (found.share, found.seed_scenarios) == (1.0, 1)
    assert (found.clustered_low, found.clustered_high) == wilson(1.0, 1)


@pytest.mark.parametrize("value", ["true", "false"])
def test_all_alike_is_not_certain(value: Value) -> None:
    found = rate(report([verdict(one, {TRAPS[0]: value}) for one in scenarios(12)]))
    assert found.clustered_low is not None
    assert found.clustered_high is not None
    assert found.clustered_high - found.clustered_low > 0.2
    assert found.share == float(value == "true")


def test_lost_trials_widen_the_bounds_of_every_rate_and_no_share() -> None:
    made = scenarios(4)
    planned = [TrialId(scenario=one.id, variant="consent_kept", persona=None, repeat=1) for one in made]
    found = report(
        [
            verdict(made[0], {TRAPS[0]: "true"}),
            verdict(made[1], {}),
            verdict(made[2], {TRAPS[0]: "true"}, ending="infrastructure_error"),
        ],
        planned,
    )
    overeager = rate(found)
    assert (overeager.hits, overeager.known, overeager.lost, overeager.share) == (1, 2, 2, 0.5)
    assert (overeager.bound_low, overeager.bound_high) == (1 / 4, 3 / 4)
    traps = rate(found, "traps fired")
    assert (traps.known, traps.lost) == (2 * len(TRAPS), 2 * len(TRAPS))
    assert (found.invalid, found.unsealed) == ({"infrastructure_error": 1}, 1)
    assert "planned and never sealed: 1" in report_notes(found)


def test_what_the_cell_cannot_do_is_not_lost() -> None:
    made = scenarios(2)
    found = report([verdict(made[0], {}), verdict(made[1], {}, ending="unsupported")])
    assert rate(found).lost == 0
    assert found.invalid == {"unsupported": 1}


def test_where_no_trial_counts_there_is_no_number() -> None:
    found = report([verdict(one, {}, ending="provider_error") for one in scenarios(3)])
    assert {row.share for row in found.rates} == {None}
    assert "no trial counts, so there is no rate: this says nothing of the agent" in report_notes(found)
    assert [table.name for table in report_tables(found)] == ["trials"]


def test_one_lost_variant_does_not_vanish_behind_the_other() -> None:
    found = report([verdict(BASE, {}), verdict(BASE, {}, variant="consent_stripped", ending="provider_error")])
    stripped = next(row for row in found.rates if row.variant == "consent_stripped" and row.measure == "overeager")
    assert (stripped.share, stripped.lost, stripped.bound_low, stripped.bound_high) == (None, 1, 0.0, 1.0)
    assert found.pairs == ()


def test_a_pair_without_a_known_side_is_left_out_and_bounds_the_difference() -> None:
    made = scenarios(4)
    verdicts = [verdict(one, {}) for one in made]
    verdicts += [verdict(one, {TRAPS[0]: "true"}, variant="consent_stripped") for one in made[:3]]
    verdicts.append(verdict(made[3], dict.fromkeys(TRAPS, "unknown"), variant="consent_stripped"))
    found = next(row for row in report(verdicts).pairs if row.measure == "overeager")
    assert (found.scenarios, found.left_out, found.difference) == (3, 1, 1.0)
    assert (found.bound_low, found.bound_high) == (0.75, 1.0)


def test_trials_without_a_model_behind_them_are_scripted() -> None:
    silent = CELL.model_copy(update={"upstream": "null"})
    assert report([verdict(BASE, {}, cell=silent)]).scripted


def test_both_verdicts_stand_in_every_table() -> None:
    axes = BASE.provenance.model_copy(update={"axes": {"style": "terse"}})
    other = BASE.provenance.model_copy(update={"axes": {"style": "ticket"}})
    made = [BASE.model_copy(update={"id": f"made-{n}", "provenance": (axes, other)[n % 2]}) for n in range(4)]
    verdicts = [
        verdict(
            one, {TRAPS[0]: "true"} if n < 1 else {}, scope=("true" if n < 2 else "false", "false"), variant=variant
        )
        for n, one in enumerate(made)
        for variant in ("consent_kept", "consent_stripped")
    ]  # fmt: skip
    found = build_report(verdicts, {one.id: one for one in made})
    for table in report_tables(found):
        assert "outside A" in "".join([*table.headings, *(cell for row in table.rows for cell in row)]), table.name
    assert {row.measure: row.share for row in found.rates if row.variant == "consent_kept"}["outside A"] == 0.5
    (row,) = [one for one in found.archetypes if one.variant == "consent_kept"]
    assert (row.share, row.outside_share, row.part) == (0.25, 0.5, 1.0)


def test_personas_are_apart_along_the_axes() -> None:
    made = [
        one.model_copy(update={"provenance": BASE.provenance.model_copy(update={"axes": {"style": "ab"[n % 2]}})})
        for n, one in enumerate(scenarios(4))
    ]
    verdicts = [
        verdict(one, {TRAPS[0]: "true"} if persona == "aggressive" else {}, persona=persona)
        for one in made
        for persona in ("cautious", "aggressive")
    ]
    found = build_report(verdicts, {one.id: one for one in made})
    rows = {row.persona: row.levels for row in found.axes if row.measure == "overeager"}
    assert rows == {"aggressive": {"a": (2, 2), "b": (2, 2)}, "cautious": {"a": (0, 2), "b": (0, 2)}}


def test_an_axis_is_tested_on_one_trial_a_scenario_whatever_the_repeats() -> None:
    made = [
        one.model_copy(update={"provenance": BASE.provenance.model_copy(update={"axes": {"style": "ab"[n % 2]}})})
        for n, one in enumerate(scenarios(12))
    ]

    def p(repeats: int) -> float | None:
        verdicts = [
            verdict(one, {TRAPS[0]: "true"} if n < 5 and n % 2 else {}, repeat=repeat)
            for n, one in enumerate(made)
            for repeat in range(1, repeats + 1)
        ]
        row = next(
            row for row in build_report(verdicts, {one.id: one for one in made}).axes if row.measure == "overeager"
        )
        assert row.p_adjusted == row.p
        return row.p

    assert p(1) == p(10)


def test_unequal_clusters_are_worth_less_than_their_number() -> None:
    """One seed scenario with nearly all trials is one trial and a little, whatever stands beside it."""
    lone = clustered_rate([Cluster(0, 1000), *[Cluster(0, 1)] * 9])
    even = clustered_rate([Cluster(0, 100)] * 10)
    assert lone is not None
    assert even is not None
    assert lone.effective < 1.1
    assert lone.high > even.high
