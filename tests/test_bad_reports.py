"""Runs that say nothing of their agent give no rate, no zero and no comparison; spoilt sheets are told."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bad_judging_kit import KEPT, STRIPPED, Members, bundle, copy_run, drop_evidence, forge, judged_run, restate
from bad_kit import SCENARIO, refusal
from overeager.report.annotation import read_sheet
from run_kit import demo_scenario, overeager
from verdict_kit import verdict

ZEROS = ("severity", "critical", "severity_mean", "share", "low", "high", "macro", "mean", "overeager", "completion")
"""Keys of what must be null where nothing is known."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_run(tmp_path_factory.mktemp("original"))


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Path:
    return copy_run(original, tmp_path)


def spoil(run: Path, change: Callable[[Members], None]) -> None:
    for trial in (KEPT, STRIPPED):
        forge(bundle(run, trial), change)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.sandbox
def test_a_run_without_a_valid_trial_has_no_rate_in_any_form(run: Path) -> None:
    spoil(run, restate(ending={"name": "unsupported"}))
    judged = overeager("judge", run)
    assert judged.returncode == 1
    assert "2 verdicts; no trial counts, so nothing can be said of the agent" in judged.stderr
    for form in ("table", "markdown", "csv", "json"):
        done = overeager("report", run, "--format", form)
        assert done.returncode == 1
        assert "no trial counts (unsupported 2)" in done.stderr
        assert "%" not in done.stdout.replace("95 %", ""), form
    (cell,) = json.loads(done.stdout)["cells"]
    assert [(row["severity"], row["critical"], row["valid"]) for row in cell["trials"]] == [(None, None, False)] * 2
    for table in ("rates", "paper"):
        for row in rows(overeager("report", run, "--format", "csv", "--table", table).stdout):
            assert [row[key] for key in ZEROS if key in row] == [""] * sum(key in row for key in ZEROS)
    for sides in ((run, run), (run, run.parent / "run")):
        refusal("compare", *sides, code="RPT00(5|8)")
    refusal("annotate", "sample", run, "--out", run / "labels", code="ANN002")


@pytest.mark.sandbox
def test_a_run_of_which_nothing_was_seen_has_no_rate_in_any_form(run: Path) -> None:
    spoil(run, drop_evidence)
    for table in ("rates", "paper", "trials"):
        done = overeager("report", run, "--format", "csv", "--table", table)
        assert done.returncode == 0
        for row in rows(done.stdout):
            values = {key: row[key] for key in ZEROS if key in row and (table, key) != ("trials", "overeager")}
            assert set(values.values()) == {""}, (table, values)
    drawn = overeager("report", run).stdout
    assert "no rate: 0 of 1 are known" in drawn
    assert "0 (0.00 a trial)" not in drawn


@pytest.mark.sandbox
def test_a_run_is_not_compared_with_itself_or_its_copy(original: Path, run: Path) -> None:
    for second in (original, run):
        assert "share 2 bundles" in refusal("compare", original, second, code="RPT008")


@pytest.mark.pure
def test_a_side_without_a_valid_trial_is_told_with_its_endings() -> None:
    from overeager.errors import OvereagerError
    from overeager.report.comparison import compare
    from overeager.report.support import Side

    model = demo_scenario(SCENARIO)
    sides = [Side([verdict(model, {}, ending=end)], {model.id: model}) for end in ("completed", "no_activity")]
    with pytest.raises(OvereagerError, match=r"no trial of the second run counts \(no_activity 1\)"):
        compare(*sides)


HEAD = "item,overeager,acts,comment"
GOOD = {
    "as written": f"{HEAD}\nitem-1,yes,,\n",
    "semicolons": f"{HEAD}\nitem-1,yes,,\n".replace(",", ";"),
    "tabs": f"{HEAD}\nitem-1,yes,,\n".replace(",", "\t"),
    "quotes of a spreadsheet": '"item","overeager","acts","comment"\r\n"item-1","yes","1;2","said ""no"",\r\nthen"\r\n',
    "further columns": f"{HEAD},mood\nitem-1,yes,,,fine\n",
    "blank lines": f"{HEAD}\n\nitem-1, YES ,,\n\n",
}
BAD = {
    "unknown label": (f"{HEAD}\nitem-1,perhaps,,\n", "line 2: 'perhaps' is none of yes, no, unsure"),
    "unknown item": (f"{HEAD}\n=1+1,yes,,\n", "line 2: '=1\\+1' is no item"),
    "column gone": ("item,acts\nitem-1,1\n", "there is no column overeager; it has item, acts"),
    "columns renamed": ("Item,Overeager\nitem-1,yes\n", "no column item and no column overeager"),
    "empty": ("", "it has nothing"),
    "huge field": (f"{HEAD}\nitem-1,yes,,{'x' * 200000}\n", "it is no CSV"),
}


@pytest.mark.pure
@pytest.mark.parametrize("name", GOOD)
def test_a_sheet_is_read_however_a_spreadsheet_saves_it(name: str) -> None:
    assert read_sheet(GOOD[name], ["item-1"]) == {"item-1": "yes"}


@pytest.mark.pure
@pytest.mark.parametrize("name", BAD)
def test_a_spoilt_sheet_is_told_with_what_is_wrong(name: str) -> None:
    text, said = BAD[name]
    with pytest.raises(ValueError, match=said):
        read_sheet(text, ["item-1"])


KEY = {"schema_version": 1, "judge": "a" * 64, "seed": 0, "items": []}
ITEM = {
    "id": "item-1", "run": "r", "trial": "t", "attempt": 1, "bundle": "b", "stratum": "s", "probability": 1.0,
    "overeager": "true", "evidence": [],
}  # fmt: skip


def test_a_key_or_sheet_that_cannot_be_is_refused(tmp_path: Path) -> None:
    sheet, key = tmp_path / "annotator-1.csv", tmp_path / "key.json"
    for spoilt, said in (
        ({"schema_version": 9}, "schema_version: Input should be 1"),
        ({"items": [{**ITEM, "probability": 0}]}, "items.0.probability"),
        ({"items": [{**ITEM, "probability": float("nan")}]}, "items.0.probability"),
    ):
        key.write_text(json.dumps({**KEY, **spoilt}))
        assert said in refusal("annotate", "score", tmp_path, code="ANN004")
    key.write_text(json.dumps({**KEY, "items": [ITEM]}))
    sheet.write_bytes(f"{HEAD}\nitem-1,yes,,caf\xe9\n".encode("latin-1"))
    assert "save it in the spreadsheet as `CSV UTF-8`" in refusal("annotate", "score", tmp_path, code="ANN006")
    sheet.unlink()
    os.mkfifo(sheet)
    assert f"in {sheet}" in refusal("annotate", "score", tmp_path, code="ANN006")


@pytest.mark.sandbox
def test_a_sample_that_cannot_be_written_is_refused(original: Path) -> None:
    assert "in /proc/sample" in refusal("annotate", "sample", original, "--out", "/proc/sample", code="ANN007")


def test_a_plan_for_next_to_nothing_is_refused() -> None:
    assert "a plan needs a difference" in refusal("plan", "--difference", "1e-300", code="PLN001")
