"""Labels by people: the draw, the page that tells nothing, and the score."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from overeager.model.vocabulary import Value
from overeager.report.annotation import Item, Key, KeyItem, Label, page, read_sheet, sheet
from overeager.report.scoring import score
from overeager.stats.agreement import fleiss
from overeager.stats.sampling import allocate, draw
from run_kit import ROOT, demo_scenario, overeager, write_bench


@pytest.mark.pure
def test_each_stratum_is_drawn_from_and_the_rest_in_proportion() -> None:
    strata = {"a": [f"a{n}" for n in range(60)], "b": [f"b{n}" for n in range(30)], "c": ["c0"]}
    drawn = draw(strata, 20, seed=7)
    assert Counter(one.stratum for one in drawn) == allocate({"a": 60, "b": 30, "c": 1}, 20)
    assert {one.stratum: one.probability for one in drawn}["c"] == 1.0
    assert len({one.item for one in drawn}) == 20
    assert drawn == draw({name: list(reversed(items)) for name, items in reversed(strata.items())}, 20, seed=7)
    assert drawn != draw(strata, 20, seed=8)


@pytest.mark.pure
def test_weights_add_up_to_what_was_drawn_from() -> None:
    strata = {"a": [f"a{n}" for n in range(47)], "b": [f"b{n}" for n in range(11)]}
    assert sum(1 / one.probability for one in draw(strata, 15, seed=1)) == pytest.approx(58)


@pytest.mark.pure
def test_a_sample_never_holds_more_than_there_is() -> None:
    assert allocate({"a": 2, "b": 1}, 10) == {"a": 2, "b": 1}
    with pytest.raises(ValueError, match="2 strata"):
        draw({"a": ["1"], "b": ["2"]}, 1, seed=0)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("line", "said"),
    [("item-009,yes,,", "no item"), ("item-001,maybe,,", "none of yes"), ("item-001,yes,,\nitem-001,no,,", "twice")],
)
def test_a_line_that_cannot_be_read_is_told_with_its_number(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_sheet(f"item,overeager,acts,comment\n{line}\n", ["item-001"])


@pytest.mark.pure
def test_an_empty_sheet_holds_no_label() -> None:
    assert read_sheet(sheet(["item-001", "item-002"]), ["item-001", "item-002"]) == {}


def key_of(*items: tuple[Value, float]) -> Key:
    return Key(
        judge="a" * 64,
        seed=0,
        items=tuple(
            KeyItem(
                id=f"item-{number}", run="r", trial=f"t{number}", attempt=1, bundle="b", stratum="s",
                probability=probability, overeager=value, evidence=(),
            )
            for number, (value, probability) in enumerate(items)
        ),
    )  # fmt: skip


@pytest.mark.pure
def test_the_judge_is_scored_by_inclusion_probability_and_only_where_both_know() -> None:
    key = key_of(("true", 0.5), ("true", 1.0), ("false", 0.1), ("unknown", 1.0), ("false", 1.0))
    labels: dict[str, Label] = {
        "item-0": "yes", "item-1": "no", "item-2": "no", "item-3": "yes", "item-4": "unsure",
    }  # fmt: skip
    found = score(key, {"one": labels})
    (row,) = found.rows
    assert (row.items, row.left_out) == (3, 2)
    cells = row.agreement
    assert (cells.true_positive, cells.false_positive, cells.false_negative, cells.true_negative) == (2, 1, 0, 10)
    (difference,) = found.disagreements
    assert (difference.item, difference.said, difference.judge, difference.trial) == ("item-1", "no", "true", "t1")


@pytest.mark.pure
def test_two_annotators_are_scored_against_each_other_and_as_a_consensus() -> None:
    key = key_of(("true", 1.0), ("false", 1.0), ("false", 1.0))
    one: dict[str, Label] = {"item-0": "yes", "item-1": "no", "item-2": "yes"}
    other: dict[str, Label] = {"item-0": "yes", "item-1": "no", "item-2": "no"}
    rows = {(row.judge, row.person): row for row in score(key, {"one": one, "other": other}).rows}
    assert set(rows) == {("one", "other"), ("judge", "one"), ("judge", "other"), ("judge", "consensus")}
    assert rows["judge", "consensus"].items == 2
    assert rows["judge", "consensus"].agreement.kappa == 1.0


@pytest.mark.pure
def test_three_annotators_are_scored_pairwise_together_and_as_a_consensus() -> None:
    key = key_of(*[("true", 1.0)] * 3, *[("false", 1.0)] * 3)
    words = {"a": "yyynnn", "b": "yynnnn", "c": "yyynny"}
    sheets = {name: labels_of(said) for name, said in words.items()}
    found = score(key, sheets)
    assert [(row.judge, row.person) for row in found.rows] == [
        ("a", "b"), ("a", "c"), ("b", "c"), ("judge", "a"), ("judge", "b"), ("judge", "c"), ("judge", "consensus"),
    ]  # fmt: skip
    assert found.rows[-1].items == 4
    assert found.fleiss == fleiss([[said[at] == "y" for said in words.values()] for at in range(6)])
    assert score(key, {name: sheets[name] for name in "ab"}).fleiss is None


def labels_of(said: str) -> dict[str, Label]:
    return {f"item-{at}": "yes" if word == "y" else "no" for at, word in enumerate(said)}


@pytest.mark.pure
def test_missing_labels_are_left_out_and_counted() -> None:
    key = key_of(("true", 1.0), ("false", 1.0), ("false", 1.0))
    half: dict[str, Label] = {"item-0": "yes"}
    whole: dict[str, Label] = {"item-0": "yes", "item-1": "no", "item-2": "yes"}
    rows = {(row.judge, row.person): row for row in score(key, {"half": half, "whole": whole}).rows}
    assert (rows["half", "whole"].items, rows["half", "whole"].left_out) == (1, 2)
    assert (rows["judge", "half"].items, rows["judge", "half"].left_out) == (1, 2)
    assert rows["judge", "whole"].left_out == 0


@pytest.mark.pure
def test_a_name_that_is_no_text_or_markup_is_shown_as_what_it_is() -> None:
    item = Item("item-001", "a <b>prompt</b>", {}, (), ("/home/user/\udcff.txt",), (), ("<script>alert(1)</script>",))
    text = page([item]).encode("utf-8", "backslashreplace").decode()
    assert "/home/user/\\udcff.txt" in text
    assert "<script>" not in text
    assert "<b>prompt" not in text


@pytest.mark.sandbox
def test_a_sample_is_blind_and_scores_what_was_filled_in(tmp_path: Path) -> None:
    bench = write_bench(
        tmp_path / "bench", [demo_scenario("cleanup-overreach-001"), demo_scenario("cred-hoarding-001")]
    )
    run, out = tmp_path / "run", tmp_path / "labels"
    ran = overeager("run", bench, "--variant", "both", "--out", run)
    assert ran.returncode == 0, ran.stderr
    drawn = overeager("annotate", "sample", run, "--size", "12", "--out", out)
    assert drawn.returncode == 0, drawn.stderr
    shown = (out / "items.html").read_text()
    for word in ("aggressive", "cautious", "cleanup-overreach", "cred-hoarding", "deleted-env-old", "trap", "verdict"):
        assert word not in shown
    assert "src=" not in shown
    assert str(ROOT) not in shown
    key = json.loads((out / "key.json").read_text())
    truth = {item["id"]: "yes" if item["overeager"] == "true" else "no" for item in key["items"]}
    for number in (1, 2):
        fill(out / f"annotator-{number}.csv", truth)
    scored = overeager("annotate", "score", out, "--json")
    assert scored.returncode == 0, scored.stderr
    assert {row["agreement"]["kappa"] for row in json.loads(scored.stdout)["rows"]} == {1.0}
    moved = run.rename(tmp_path / "moved")
    elsewhere = overeager("annotate", "sample", moved, "--size", "12", "--out", tmp_path / "again")
    assert elsewhere.returncode == 0, elsewhere.stderr
    assert (tmp_path / "again" / "items.html").read_text() == shown
    moved.rename(run)
    again = overeager("annotate", "sample", run, "--out", out)
    assert (again.returncode, again.stderr[:6]) == (2, "ANN001")
    assert overeager("annotate", "score", tmp_path).stderr.startswith("ANN004")


def fill(path: Path, truth: dict[str, str]) -> None:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "overeager": truth[row["item"]]} for row in rows)
