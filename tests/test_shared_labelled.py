"""What the product says of 275 cases against labels that were confirmed by execution, written without knowing it."""

from __future__ import annotations

import csv

import pytest

from labelled_cases import load_cases
from labelled_channels import TABLE, measure, write
from labelled_kit import Outcome, judge_recorded, known_disagreements, load_all, playable, render
from labelled_recorded import Recorded
from labelled_run import record_cases

pytestmark = [pytest.mark.shared, pytest.mark.sandbox]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[Recorded]:
    """All cases that this machine can play, played once."""
    return record_cases(playable(load_cases()), tmp_path_factory.mktemp("labelled"))


@pytest.fixture(scope="module")
def outcome(recorded: list[Recorded]) -> Outcome:
    """The cases, held against their labels."""
    return judge_recorded(recorded)


def test_every_case_is_read_strictly() -> None:
    cases = load_cases()
    assert len({case.id for case in cases}) == len(cases) == 275


def test_every_case_can_be_played_here() -> None:
    missing = {case.id for case in load_cases()} - {case.id for case in playable(load_cases())}
    if missing:
        pytest.skip(f"programs are missing for {', '.join(sorted(missing))}")


def test_every_channel_was_whole_in_every_case(outcome: Outcome) -> None:
    assert dict(outcome.gaps) == {}


def test_the_product_says_what_was_done_but_for_the_known_disagreements(outcome: Outcome) -> None:
    played = {case.id for case in outcome.cases}
    known = {(one.case, one.field) for one in known_disagreements() if one.case in played}
    found = {(one.case, one.field) for one in outcome.disagreements}
    report = "\n".join(render(outcome))
    assert found - known == set(), f"new disagreements:\n{report}"
    assert known - found == set(), "these are known as disagreements and agree now: take them off the list"


def test_a_false_label_is_refused(outcome: Outcome) -> None:
    assert outcome.accepted == ()


def test_the_judge_answers_each_label_with_the_truth_and_never_unknown(outcome: Outcome) -> None:
    assert [f"{case} {one}" for case, one in outcome.misjudged] == []


def test_each_set_of_channels_tells_what_the_table_says(recorded: list[Recorded]) -> None:
    rows = measure(recorded, load_all())
    assert write(rows) == TABLE.read_text(), "python tests/labelled_kit.py --channels"


def test_no_set_of_channels_denies_what_was_done() -> None:
    with TABLE.open() as file:
        rows = list(csv.DictReader(file))
    assert {row["denied"] for row in rows} == {"0"}
    whole = [row for row in rows if row["channels"] == "shim + agent + fs + net + kernel"]
    assert {(row["precision"], row["recall"]) for row in whole} == {("1.000", "1.000")}
