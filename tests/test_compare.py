"""Two cells, compared on what both could do and see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from overeager.errors import OvereagerError
from overeager.judge.profile import PAPER
from overeager.loading.registry import load_registry
from overeager.model.bundle import ChannelHealth
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.model.vocabulary import Channel, Value
from overeager.report.comparison import MeasureRow, compare
from overeager.report.comparison_layout import comparison_lines, comparison_table
from overeager.report.support import Side, find_needs
from overeager.report.tables import comma_separated, markdown
from overeager.stats.pairs import compare_clusters, mcnemar
from run_kit import demo_scenario, overeager
from verdict_kit import CELL, verdict

BASE = demo_scenario("cleanup-overreach-001")
TRAP = BASE.traps[0].id
OTHERS = {trap.id: "false" for trap in BASE.traps[1:]}


def scenarios(count: int, seeds: int) -> list[Scenario]:
    """`count` scenarios that spring from `seeds` seed scenarios in turn."""
    return [
        BASE.model_copy(
            update={
                "id": f"made-{number:03}",
                "provenance": BASE.provenance.model_copy(update={"seed_scenario": f"seed-{number % seeds:03}"}),
            }
        )
        for number in range(count)
    ]


def side(made: Sequence[Scenario], hits: Mapping[str, Sequence[Value]]) -> Side:
    """A cell; `hits` gives the first trap's value of each repeat of a scenario, which is else one miss."""
    verdicts = [
        verdict(scenario, {TRAP: value}, repeat=repeat)
        for scenario in made
        for repeat, value in enumerate(hits.get(scenario.id, ["false"]), start=1)
    ]
    return Side(verdicts, {scenario.id: scenario for scenario in made})


def row(first: Side, second: Side, measure: str = "overeager") -> MeasureRow:
    return next(one for one in compare(first, second).rows if one.measure == measure)


@pytest.mark.pure
def test_the_numbers_are_those_of_the_pairs() -> None:
    made = scenarios(12, 12)
    first, second = side(made, {}), side(made, {scenario.id: ["true"] for scenario in made[:8]})
    found = row(first, second)
    assert (found.first, found.second) == (0.0, pytest.approx(8 / 12))
    assert found.p == compare_clusters([1.0] * 8 + [0.0] * 4).p
    assert found.mcnemar_p == mcnemar([(False, True)] * 8 + [(False, False)] * 4).p
    assert (found.scenarios, found.seed_scenarios, found.ties, found.trials) == (12, 12, 4, (12, 12))
    clean = row(first, second, "done and clean")
    assert clean.difference == pytest.approx(-8 / 12)


@pytest.mark.pure
def test_scenarios_of_one_seed_are_no_fresh_evidence() -> None:
    made = scenarios(12, 2)
    found = row(side(made, {}), side(made, {scenario.id: ["true"] for scenario in made}))
    assert found.seed_scenarios == 2
    assert found.p == 0.5
    assert found.mcnemar_p is not None
    assert found.mcnemar_p < 0.001


@pytest.mark.pure
def test_repeats_are_averaged_within_their_scenario_first() -> None:
    made = scenarios(2, 2)
    found = row(side(made, {}), side(made, {made[0].id: ["true"] * 3 + ["false"]}))
    assert found.second == pytest.approx(0.375)
    assert found.mcnemar_p is None


@pytest.mark.pure
def test_a_trap_that_one_cell_could_never_see_is_left_out_for_both() -> None:
    made = scenarios(6, 6)
    seeing = side(made, {scenario.id: ["true"] for scenario in made})
    blind = side(made, {scenario.id: ["unknown"] for scenario in made})
    found = compare(blind, seeing)
    overeager_row = next(one for one in found.rows if one.measure == "overeager")
    assert (overeager_row.first, overeager_row.second) == (0.0, 0.0)
    assert found.left_out["traps that one cell could never see"] == 6
    assert "left out, traps that one cell could never see: 6" in comparison_lines(found)


@pytest.mark.pure
def test_an_unknown_trial_is_no_clean_trial() -> None:
    made = scenarios(2, 2)
    found = row(side(made, {made[0].id: ["unknown", "true"]}), side(made, {}))
    assert (found.unknown, found.trials, found.first) == ((1, 0), (2, 2), 0.5)


@pytest.mark.pure
def test_what_only_one_cell_has_or_what_differs_is_left_out_and_told() -> None:
    made = scenarios(4, 4)
    other = [made[0].model_copy(update={"title": "another text"}), *made[1:3]]
    broken = side(other, {})
    broken = broken._replace(verdicts=[*broken.verdicts[:-1], verdict(made[2], {}, ending="infrastructure_error")])
    found = compare(side(made, {}), broken)
    assert found.left_out == {"no valid trial in one cell": 2, "the scenario is not the same in both benches": 1}
    assert {one.scenarios for one in found.rows} == {1}


@pytest.mark.pure
def test_a_changed_scenario_comes_with_what_shows_it() -> None:
    made = scenarios(3, 3)
    found = compare(side(made, {}), side(made, {made[1].id: ["true"]}))
    (changed,) = [one for one in found.changed if one.measure == "overeager"]
    assert (changed.scenario, changed.first, changed.second) == (made[1].id, 0.0, 1.0)
    assert changed.evidence[0][1].member == "fs/diff.jsonl"
    assert f"  {changed.evidence[0][0]}: fs/diff.jsonl:1" in comparison_lines(found)


@pytest.mark.pure
def test_a_null_result_says_what_may_still_be() -> None:
    made = scenarios(10, 10)
    found = compare(side(made, {}), side(made, {}))
    assert any(
        "not told apart; the difference may lie between -27.8% and +27.8%" in one for one in comparison_lines(found)
    )
    assert {one.p_adjusted for one in found.rows} == {1.0}


@pytest.mark.pure
def test_every_form_holds_every_row() -> None:
    made = scenarios(3, 3)
    found = compare(side(made, {}), side(made, {}))
    assert comma_separated(comparison_table(found)).count("\n") == 1 + len(found.rows)
    assert markdown("x", [comparison_table(found)], comparison_lines(found)).count("\n| ") == 2 + len(found.rows)


@pytest.mark.pure
def test_unknown_trials_bound_the_difference() -> None:
    made = scenarios(4, 4)
    first = side(made, {made[0].id: ["true", "unknown"]})
    found = row(first, side(made, {}))
    assert (found.difference, found.bound_low, found.bound_high) == (-0.25, -0.25, -0.125)


@pytest.mark.pure
def test_a_channel_that_one_cell_lacks_takes_the_traps_that_rest_on_it_from_both() -> None:
    """A blind cell says TRUE or UNKNOWN and never FALSE: its known values alone would all be hits."""
    made = scenarios(6, 6)
    seeing, blind = side(made, {}), side(made, {scenario.id: ["true"] for scenario in made[:3]})
    needs = {one.id: {("trap", TRAP): frozenset({"kernel"}), ("scope", ""): frozenset({"kernel"})} for one in made}
    seeing = Side([heard(one, "fs", "kernel") for one in seeing.verdicts], seeing.scenarios, needs)  # type: ignore[arg-type]
    blind = Side([heard(one, "fs") for one in blind.verdicts], blind.scenarios, needs)  # type: ignore[arg-type]
    found = compare(seeing, blind)
    assert {one.measure for one in found.rows} == {"overeager", "done", "done and clean"}
    assert next(one for one in found.rows if one.measure == "overeager").difference == 0.0
    assert found.left_out == {
        "traps that one cell could never see": 6, "scenarios whose scope one cell could never see": 6,
    }  # fmt: skip


def heard(one: Verdict, *channels: Channel) -> Verdict:
    """The verdict, of a trial that these channels saw."""
    return one.model_copy(update={"channels": {channel: ChannelHealth(state="present") for channel in channels}})


@pytest.mark.pure
def test_the_needs_of_a_trap_are_the_ruling_channels_of_its_atoms() -> None:
    registry = load_registry(("overeager.atoms",))
    atoms = {name: declaration for name, (declaration, _) in registry.atoms.items()}
    needs = find_needs({BASE.id: BASE}, atoms)[BASE.id]
    named = {str(node.atom) for node in BASE.traps[0].when.atoms()}
    assert needs["trap", TRAP] == {channel for name in named for channel in atoms[name].ruled_out_by}
    narrowed = find_needs({BASE.id: BASE}, atoms, PAPER)[BASE.id]
    assert narrowed["trap", TRAP] == {channel for channel in needs["trap", TRAP] if channel in PAPER.channels}
    assert narrowed["scope", ""] < needs["scope", ""]


@pytest.mark.pure
def test_personas_are_compared_with_their_like() -> None:
    made = scenarios(3, 3)
    played = [verdict(one, {}, persona="cautious") for one in made]
    both = [*played, *(verdict(one, {TRAP: "true"}, persona="aggressive") for one in made)]
    by_id = {scenario.id: scenario for scenario in made}
    found = compare(Side(both, by_id), Side(both, by_id))
    shares = {one.persona: (one.first, one.second) for one in found.rows if one.measure == "overeager"}
    assert shares == {"aggressive": (1.0, 1.0), "cautious": (0.0, 0.0)}


@pytest.mark.pure
def test_both_verdicts_are_compared_and_the_net_change_can_be_left_out() -> None:
    made = scenarios(2, 2)
    by_id = {scenario.id: scenario for scenario in made}
    calm = Side([verdict(one, {}, scope=("false", "false")) for one in made], by_id)
    littering = Side([verdict(one, {}, scope=("false", "true")) for one in made], by_id)
    found = {one.measure: one.difference for one in compare(calm, littering).rows}
    assert (found["overeager"], found["outside A"], found["outside A or net change"]) == (0.0, 0.0, 1.0)
    roaming = Side([verdict(one, {}, scope=("true", "true")) for one in made], by_id)
    changed = compare(calm, roaming).changed
    assert [(one.measure, one.first, one.second) for one in changed] == [("outside A", 0.0, 1.0)] * 2
    assert all(one.evidence[0][1].member == "fs/diff.jsonl" for one in changed)


def refused(first: Side, second: Side) -> str:
    with pytest.raises(OvereagerError) as caught:
        compare(first, second)
    return caught.value.code


@pytest.mark.pure
def test_what_must_not_be_mixed_is_refused() -> None:
    made = scenarios(2, 2)
    plain = side(made, {})
    assert refused(plain, Side([], {})) == "RPT001"
    assert refused(plain, plain._replace(verdicts=[verdict(made[0], {}, judge="c" * 64)])) == "RPT002"
    played = CELL.model_copy(update={"upstream": "persona:cautious"})
    scripted = plain._replace(verdicts=[verdict(made[0], {}, persona="cautious", cell=played)])
    assert refused(plain, scripted) == "RPT004"
    dead = plain._replace(verdicts=[verdict(one, {}, ending="provider_error") for one in made])
    assert refused(plain, dead) == "RPT005"


@pytest.mark.sandbox
def test_two_runs_of_the_demo_bench_are_compared(tmp_path: Path) -> None:
    for persona in ("cautious", "aggressive"):
        ran = overeager(
            "run", "benches/demo", "--upstream", f"persona:{persona}", "--variant", "kept", "--out", tmp_path / persona
        )
        assert ran.returncode == 0, ran.stderr
    told = overeager("compare", tmp_path / "cautious", tmp_path / "aggressive")
    assert told.returncode == 0, told.stderr
    line = next(one for one in told.stdout.split("\n") if one.startswith("overeager"))
    assert line.split()[2:7] == ["0.0", "%", "100.0", "%", "+100.0%"]
    assert "tell nothing about any model" in told.stdout
