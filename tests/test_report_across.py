"""Several runs in one report: what must not be mixed, cells pairwise, generator seeds."""

from __future__ import annotations

import pytest

from overeager.errors import OvereagerError
from overeager.model.bundle import Cell
from overeager.model.scenario import Scenario
from overeager.model.vocabulary import Channel, Health, PersonaName
from overeager.report.across import Ran
from overeager.report.across_layout import across_notes, across_tables
from overeager.report.flat import flat_table
from overeager.report.whole import Report, build_whole
from overeager.stats.tables import fisher
from run_kit import demo_scenario
from verdict_kit import CELL, LOCK, verdict

pytestmark = pytest.mark.pure

BASE = demo_scenario("cleanup-overreach-001")
TRAP = BASE.traps[0].id
OTHER = CELL.model_copy(update={"model": "another-model"})


def scenarios(count: int) -> list[Scenario]:
    return [BASE.model_copy(update={"id": f"made-{number:03}"}) for number in range(count)]


def ran(
    hits: int,
    trials: int,
    *,
    name: str = "run",
    generator_seed: int | None = None,
    cell: Cell = CELL,
    judge: str = LOCK,
    persona: PersonaName | None = None,
    channels: dict[Channel, Health] | None = None,
) -> Ran:
    """`trials` scenarios, one trial each, the first `hits` of them overeager and outside A."""
    made = scenarios(trials)
    verdicts = [
        verdict(
            one, {TRAP: "true"} if number < hits else {}, cell=cell, judge=judge, persona=persona, channels=channels,
            scope=("true", "true") if number < hits else ("false", "false"),
        )
        for number, one in enumerate(made)
    ]  # fmt: skip
    return Ran(name, "made", generator_seed, verdicts, {one.id: one for one in made})


def test_two_judge_locks_are_refused_across_runs() -> None:
    with pytest.raises(OvereagerError) as caught:
        build_whole([ran(1, 4, name="one"), ran(1, 4, name="other", judge="c" * 64)])
    assert caught.value.code == "RPT002"


def test_generator_seeds_are_the_papers_table_11() -> None:
    runs = [ran(hits, 500, name=f"s{seed}", generator_seed=seed) for seed, hits in ((42, 64), (7, 57), (13, 62))]
    found = build_whole(runs)
    traps, outside = found.generator_seeds
    assert (traps.measure, outside.measure) == ("overeager", "outside A")
    assert {one.generator_seed: round(100 * one.share, 2) for one in traps.shares} == {7: 11.4, 13: 12.4, 42: 12.8}
    assert {(one.first, one.second): round(one.p, 3) for one in traps.pairs} == {
        (7, 13): 0.696, (7, 42): 0.561, (13, 42): 0.924,
    }  # fmt: skip
    assert round(traps.spread, 4) == 0.014
    assert traps.p is not None
    assert traps.p > 0.5
    assert traps.archetypes == {BASE.archetype: pytest.approx(0.014)}
    assert any("the share moves by 1.4 points" in note for note in across_notes(found))
    assert [row[3] for table in across_tables(found) if table.name == "generator_seeds" for row in table.rows][:3] == [
        "7", "13", "42",
    ]  # fmt: skip


def test_repeats_are_no_further_draws_over_generator_seeds() -> None:
    one = ran(2, 4, name="one", generator_seed=1)
    again = [verdict(scenario, {TRAP: "true"}, repeat=2) for scenario in one.scenarios.values()]
    found = build_whole([one._replace(verdicts=[*one.verdicts, *again]), ran(1, 4, name="other", generator_seed=2)])
    assert [(share.hits, share.known) for share in found.generator_seeds[0].shares] == [(2, 4), (1, 4)]


@pytest.mark.parametrize(
    ("seeds", "told"), [((None, None), "none of these benches states one"), ((7, 7), "no cell was run on two of them")]
)
def test_benches_without_two_generator_seeds_say_so(seeds: tuple[int | None, int | None], told: str) -> None:
    found = build_whole([ran(1, 4, name=str(at), generator_seed=seed) for at, seed in enumerate(seeds)])
    assert found.generator_seeds == ()
    assert any(told in note for note in across_notes(found))


def test_a_generator_seed_without_hits_anywhere_has_no_chi_square() -> None:
    found = build_whole([ran(0, 4, name=str(seed), generator_seed=seed) for seed in (1, 2)])
    assert {row.p for row in found.generator_seeds} == {None}
    assert found.generator_seeds[0].archetypes == {}
    assert any("nothing could differ" in note for note in across_notes(found))


def test_cells_are_paired_by_fisher_with_holm_over_the_table() -> None:
    found = build_whole([ran(9, 20, name="one"), ran(1, 20, name="other", cell=OTHER)])
    traps, outside = found.cell_pairs
    assert traps.p == outside.p == fisher((9, 20), (1, 20))
    assert traps.p_adjusted == pytest.approx(2 * traps.p)
    assert (traps.first_hits, traps.first_known, traps.second_hits, traps.second_known) == (9, 20, 1, 20)
    lines = next(table for table in across_tables(found) if table.name == "cells").rows
    assert [line[0] for line in lines] == ["one", "other"]


def unpaired(other: Ran) -> str:
    found = build_whole([ran(1, 4, name="one"), other])
    assert found.cell_pairs == ()
    (why,) = found.unpaired
    assert f"not paired: {why}" in across_notes(found)
    return why


def test_what_must_not_be_set_against_each_other_is_not_paired() -> None:
    played = CELL.model_copy(update={"upstream": "persona"})
    assert "scripted personas" in unpaired(ran(1, 4, name="other", cell=played, persona="moderate"))
    assert "benches differ" in unpaired(ran(1, 5, name="other", cell=OTHER))
    assert "different channels" in unpaired(ran(1, 4, name="other", cell=OTHER, channels={"fs": "present"}))


def test_every_table_as_csv_has_its_headings_even_when_it_is_empty() -> None:
    found: Report = build_whole([ran(1, 4, name="one"), ran(1, 4, name="other", cell=OTHER)])
    rates = flat_table(found, "rates")
    assert rates.headings[:5] == ("run", "variant", "persona", "measure", "hits")
    assert {row[0] for row in rates.rows} == {"one", "other"}
    shares = {row[0]: float(row[rates.headings.index("share")]) for row in rates.rows if row[3] == "overeager"}
    assert shares == {"one": 0.25, "other": 0.25}
    empty = flat_table(found, "generator_seeds")
    assert (empty.rows, empty.headings[0]) == ((), "cell")
