"""A cell that lacks a channel: what it could only ever have found is in no share, and every TRUE is still told."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from overeager.contract.evidence import AtomDeclaration
from overeager.judge.profile import FULL, PAPER
from overeager.loading.registry import load_registry
from overeager.model.condition import Condition
from overeager.model.scenario import Scenario
from overeager.model.verdict import Judgement, ScopeAct, Verdict
from overeager.model.vocabulary import Channel, Health, Value, Variant
from overeager.report.across import Ran
from overeager.report.across_layout import across_notes
from overeager.report.flat import flat_table
from overeager.report.layout import report_notes, report_tables
from overeager.report.measures import RateRow
from overeager.report.rows import CellReport, build_report
from overeager.report.support import ATTEMPTED, DISCLOSED, DONE, SCOPE, TRAP, Needs, find_needs
from overeager.report.tables import comma_separated
from overeager.report.whole import build_whole
from run_kit import DEMO, demo_scenario, overeager
from verdict_kit import CELL, verdict

BASE = demo_scenario("cleanup-overreach-001")
EXECUTED = [trap for trap in BASE.traps if trap.counts == "executed"]
FIRST = next(trap.id for trap in EXECUTED if trap.severity == "critical")
SECOND = next(trap.id for trap in EXECUTED if trap.severity != "critical")
OTHER = CELL.model_copy(update={"model": "another-model"})
WITHOUT: dict[Channel, Health] = {"agent": "present", "fs": "present", "kernel": "absent", "speech": "present"}
WITH: dict[Channel, Health] = {**WITHOUT, "kernel": "present"}


def scenarios(count: int) -> list[Scenario]:
    """Each of a seed scenario of its own; even ones are of another archetype and level than odd ones."""
    return [
        BASE.model_copy(
            update={
                "id": f"made-{number:03}",
                "archetype": ("cleanup-overreach", "config-overreach")[number % 2],
                "provenance": BASE.provenance.model_copy(
                    update={"seed_scenario": f"seed-{number:03}", "axes": {"style": ("terse", "ticket")[number % 2]}}
                ),
            }
        )
        for number in range(count)
    ]


def resting(made: Iterable[Scenario], *keys: tuple[str, str]) -> Needs:
    """`keys` of each scenario rest on the kernel channel."""
    return {one.id: dict.fromkeys(keys, frozenset({"kernel"})) for one in made}


def report(verdicts: Sequence[Verdict], made: Iterable[Scenario], needs: Needs) -> CellReport:
    return build_report(verdicts, {one.id: one for one in made}, needs=needs)


def rates(found: CellReport, variant: Variant = "consent_kept") -> Mapping[str, RateRow]:
    return {row.measure: row for row in found.rates if row.variant == variant}


def hits_and_unknowns(
    made: Sequence[Scenario], channels: dict[Channel, Health], variant: Variant = "consent_kept"
) -> list[Verdict]:
    """What a blind cell says: the first half TRUE, of the rest nothing is known."""
    values: Sequence[Value] = ["true" if number < len(made) // 2 else "unknown" for number in range(len(made))]
    return [
        verdict(one, {FIRST: value}, channels=channels, scope=(value, value), variant=variant)
        for one, value in zip(made, values, strict=True)
    ]


@pytest.mark.pure
def test_what_rests_on_a_lacking_channel_is_in_no_share_and_in_the_bounds() -> None:
    made = scenarios(4)
    found = report(hits_and_unknowns(made, WITHOUT), made, resting(made, (TRAP, FIRST), (SCOPE, "")))
    for measure in ("overeager", "outside A", "outside A or net change", "attempted"):
        row = rates(found)[measure]
        assert (row.share, row.low, row.high, row.clustered_low, row.clustered_high, row.macro) == (None,) * 6
        assert (row.hits, row.known, row.unknown, row.blind, row.seed_scenarios) == (0, 0, 4, 2, 0)
        assert (row.bound_low, row.bound_high) == (0.5, 1.0)
    assert found.lacking == ("kernel",)


@pytest.mark.pure
def test_the_same_values_count_where_the_channel_was_there_or_nothing_rests_on_it() -> None:
    made = scenarios(4)
    needs = resting(made, (TRAP, FIRST), (SCOPE, ""))
    for found in (
        report(hits_and_unknowns(made, WITH), made, needs),
        report(hits_and_unknowns(made, {**WITH, "kernel": "truncated"}), made, needs),
        report(hits_and_unknowns(made, WITHOUT), made, {}),
    ):
        assert found.lacking == ()
        assert (rates(found)["overeager"].share, rates(found)["overeager"].known) == (1.0, 2)
        assert {row.blind for row in found.rates} == {0}


@pytest.mark.pure
@pytest.mark.parametrize(
    ("key", "blind"),
    [
        ((TRAP, FIRST), {"done and clean": 1, "overeager": 1, "attempted": 1, "safety gate": 1, "traps fired": 1}),
        ((TRAP, SECOND), {"done and clean": 1, "overeager": 1, "attempted": 1, "traps fired": 1}),
        ((ATTEMPTED, FIRST), {"attempted": 1}),
        ((DONE, ""), {"done and clean": 1, "done": 1}),
        ((SCOPE, ""), {"outside A": 1, "outside A or net change": 1}),
        ((DISCLOSED, ""), {"owned up to (exploratory)": 1}),
    ],
)
def test_a_measure_is_blind_by_what_it_rests_on_and_no_other_is(key: tuple[str, str], blind: dict[str, int]) -> None:
    one = owned_up(verdict(BASE, {}, channels=WITHOUT, scope=("true", "true")))
    found = rates(report([one], [BASE], resting([BASE], key)))
    assert {measure: row.blind for measure, row in found.items() if row.blind} == blind
    assert {measure for measure, row in found.items() if not row.known} == blind.keys() - {"traps fired"}


def owned_up(one: Verdict) -> Verdict:
    """The verdict with one act outside A that the final message names."""
    act = ScopeAct(
        act=1, kind="delete", targets=("/x",), sorted="overreach", rule="S1", why="", evidence=(),
        disclosed=Judgement(value="true"),
    )  # fmt: skip
    assert one.scope is not None
    return one.model_copy(update={"scope": one.scope.model_copy(update={"named": (act,)})})


@pytest.mark.pure
def test_done_and_clean_is_not_made_of_the_half_that_is_seen() -> None:
    """Without the traps it would be FALSE wherever the task was not done, and never TRUE."""
    verdicts = [verdict(BASE, {}, repeat=repeat, done="false", channels=WITHOUT) for repeat in (1, 2)]
    clean = rates(report(verdicts, [BASE], resting([BASE], (TRAP, FIRST))))["done and clean"]
    assert (clean.share, clean.blind, clean.bound_low, clean.bound_high) == (None, 2, 0.0, 0.0)


@pytest.mark.pure
def test_attempts_are_not_made_of_the_traps_that_are_seen() -> None:
    verdicts = [verdict(BASE, {FIRST: "unknown", SECOND: "true"}, channels=WITHOUT)]
    tried = rates(report(verdicts, [BASE], resting([BASE], (TRAP, FIRST))))
    assert (tried["attempted"].share, tried["attempted"].blind) == (None, 1)
    assert tried["traps fired"].known == len(EXECUTED) - 1


@pytest.mark.pure
def test_scenarios_that_need_nothing_of_it_make_the_shares_of_every_table() -> None:
    """Of four scenarios two are blind: a hit of theirs and an UNKNOWN."""
    made = scenarios(4)
    verdicts = hits_and_unknowns(made[:2], WITHOUT) + [
        verdict(one, {FIRST: "true"} if one is made[2] else {}, channels=WITHOUT, scope=("false", "false"))
        for one in made[2:]
    ]
    found = report(verdicts, made, resting(made[:2], (TRAP, FIRST), (SCOPE, "")))
    row = rates(found)["overeager"]
    assert (row.hits, row.known, row.unknown, row.blind, row.share, row.macro) == (1, 2, 2, 1, 0.5, 0.5)
    assert (row.bound_low, row.bound_high, row.seed_scenarios) == (0.5, 0.75, 2)
    (paper,) = found.paper
    assert (paper.overeager, paper.outside, paper.unknown) == (0.5, 0.0, 2)
    (joint,) = found.joint
    assert joint.overeager == {"true": 1, "false": 1, "unknown": 2}
    assert joint.outside == {"true": 0, "false": 2, "unknown": 2}
    assert [(one.hits, one.known, one.unknown, one.part) for one in found.archetypes] == [
        (1, 1, 1, 1.0),
        (0, 1, 1, 0.0),
    ]
    levels = {one.measure: (one.levels, one.unknown) for one in found.axes}
    assert levels["overeager"] == ({"terse": (1, 1), "ticket": (0, 1)}, 2)


@pytest.mark.pure
def test_pairs_leave_blind_scenarios_out_and_bound_the_difference_with_them() -> None:
    made = scenarios(4)
    kept = [verdict(one, {}, channels=WITHOUT) for one in made]
    stripped = [verdict(one, {FIRST: "true"}, channels=WITHOUT, variant="consent_stripped") for one in made]
    found = report([*kept, *stripped], made, resting(made[:1], (TRAP, FIRST)))
    row = next(one for one in found.pairs if one.measure == "overeager")
    assert (row.scenarios, row.left_out, row.difference) == (3, 1, 1.0)
    assert (row.bound_low, row.bound_high) == (1.0, 1.0)
    assert not report([*kept, *stripped], made, resting(made, (TRAP, FIRST), (DONE, ""), (SCOPE, ""))).pairs


@pytest.mark.pure
def test_every_true_is_still_told_with_its_severity() -> None:
    made = scenarios(4)
    verdicts = hits_and_unknowns(made, WITHOUT)
    seeing = report(verdicts, made, {})
    blind = report(verdicts, made, resting(made, (TRAP, FIRST), (SCOPE, ""), (DONE, "")))
    assert (blind.trials, blind.severity, blind.unknown) == (seeing.trials, seeing.severity, seeing.unknown)
    assert [one.critical for one in blind.archetypes] == [one.critical for one in seeing.archetypes] == [1, 1]
    (paper,) = blind.paper
    assert (paper.severity, paper.critical, paper.safety_gate) == (16, 2, None)


@pytest.mark.pure
def test_a_trial_that_spoils_a_channel_of_its_own_keeps_its_hits_in_the_share() -> None:
    made = scenarios(2)
    verdicts = [verdict(made[0], {FIRST: "true"}, channels=WITHOUT), verdict(made[1], {}, channels=WITH)]
    found = report(verdicts, made, resting(made, (TRAP, FIRST)))
    assert (rates(found)["overeager"].share, found.lacking) == (0.5, ())


@pytest.mark.pure
def test_a_channel_that_only_trials_without_count_had_is_lacking() -> None:
    made = scenarios(2)
    verdicts = [
        verdict(made[0], {FIRST: "true"}, channels=WITHOUT),
        verdict(made[1], {}, channels=WITH, ending="provider_error"),
    ]
    assert report(verdicts, made, resting(made, (TRAP, FIRST))).lacking == ("kernel",)


@pytest.mark.pure
def test_several_blind_cells_are_neither_paired_nor_spread_by_what_they_could_not_rule_out() -> None:
    made = scenarios(4)
    needs = resting(made, (TRAP, FIRST))
    by_id = {one.id: one for one in made}
    verdicts = hits_and_unknowns(made, WITHOUT)
    others = [one.model_copy(update={"cell": OTHER}) for one in verdicts]
    runs = [Ran("one", "made", 1, verdicts, by_id, needs=needs), Ran("two", "made", 2, verdicts, by_id, needs=needs)]
    found = build_whole([*runs, Ran("other", "made", 1, others, by_id, needs=needs)])
    assert {row.measure for row in found.cell_pairs} == {row.measure for row in found.generator_seeds} == {"outside A"}
    assert sum("lacks the channel kernel" in note for note in across_notes(found)) == 3


@pytest.mark.pure
def test_a_rate_of_which_nothing_remains_is_null_with_bounds_in_every_form() -> None:
    made = scenarios(4)
    needs = resting(made, (TRAP, FIRST))
    found = build_whole(
        [Ran("run", "made", None, hits_and_unknowns(made, WITHOUT), {s.id: s for s in made}, (), needs)]
    )
    (cell,) = json.loads(found.model_dump_json())["cells"]
    row = next(one for one in cell["rates"] if one["measure"] == "overeager")
    assert (row["share"], row["bound_low"], row["bound_high"], row["blind"]) == (None, 0.5, 1.0, 2)
    flat = csv.DictReader(io.StringIO(comma_separated(flat_table(found, "rates"))))
    line = next(one for one in flat if one["measure"] == "overeager")
    assert (line["share"], line["bound_low"], line["bound_high"], line["blind"]) == ("", "0.5", "1.0", "2")
    table = next(one for one in report_tables(found.cells[0]) if one.name == "rates")
    drawn = next(one for one in table.rows if one[1] == "overeager")
    assert drawn[2] == "no rate: the cell lacks a channel"
    assert drawn[-3:] == ("4 (2 left out)", "0", "50.0 - 100.0")
    (note,) = (note for note in report_notes(found.cells[0]) if "lacks the channel" in note)
    assert note.startswith("this cell lacks the channel kernel: ")
    assert "overeager 2" in note
    assert "outside A" not in note


@pytest.mark.pure
def test_an_atom_that_the_profile_mutes_needs_what_the_profile_leaves_out() -> None:
    """Its trap is never FALSE in `paper`, as in a cell that has no such channel."""
    when = Condition.model_validate({"net.connected": {"address": "x"}})
    muted = BASE.model_copy(update={"traps": (BASE.traps[0].model_copy(update={"when": when}),)})
    for profile in (FULL, PAPER):
        needs = find_needs({muted.id: muted}, atoms(), profile)[muted.id]
        assert "kernel" in needs[TRAP, BASE.traps[0].id]


def atoms() -> dict[str, AtomDeclaration]:
    return {name: declared for name, (declared, _) in load_registry(("overeager.atoms",)).atoms.items()}


@pytest.mark.sandbox
def test_a_real_run_without_the_kernel_channel_has_no_share_outside_a_and_tells_every_act(tmp_path: Path) -> None:
    """The moderate persona on all of benches/demo: other channels still see what it did outside A."""
    blind, seeing = (played(tmp_path / name, *options) for name, options in (("no", ["--no-kernel"]), ("yes", [])))
    assert (blind["lacking"], seeing["lacking"]) == (["kernel"], [])
    told, known = (one_rate(cell, "outside A") for cell in (blind, seeing))
    assert (told["share"], told["low"], told["clustered_low"], told["macro"]) == (None,) * 4
    assert told["blind"] == told["unknown"] - sum(row["scope"] == "unknown" for row in blind["trials"]) > 0
    assert told["bound_low"] == told["blind"] / len(blind["trials"])
    assert told["bound_low"] <= known["share"] <= told["bound_high"]
    assert sum(bool(row["outside"]) for row in blind["trials"]) == told["blind"]
    done = one_rate(blind, "done")
    assert (done["blind"], done["share"]) == (0, 1.0)
    assert one_rate(seeing, "outside A")["blind"] == 0
    page = overeager("report", tmp_path / "no", "--table", "rates").stdout
    assert "this cell lacks the channel kernel" in page
    assert "no rate: the cell lacks a channel" in page


def played(out: Path, *options: str) -> dict[str, Any]:
    """The report of a run of benches/demo, judged with what is installed, whatever lock the bench names."""
    chosen = ("--upstream", "persona:moderate", "--variant", "stripped")
    ran = overeager("run", DEMO, *chosen, *options, "--out", out)
    assert ran.returncode == 0, ran.stderr
    assert overeager("judge", out, "--rejudge").returncode == 0
    found: dict[str, Any] = json.loads(overeager("report", out, "--json").stdout)["cells"][0]
    return found


def one_rate(cell: dict[str, Any], measure: str) -> dict[str, Any]:
    return next(row for row in cell["rates"] if row["measure"] == measure)
