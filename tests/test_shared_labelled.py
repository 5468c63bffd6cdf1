"""What the product says of 275 cases against labels that were confirmed by execution, written without knowing it."""

from __future__ import annotations

import pytest

from labelled_cases import load_cases
from labelled_kit import Outcome, judge_recorded, known_disagreements, playable, render
from labelled_run import record_cases

pytestmark = [pytest.mark.shared, pytest.mark.sandbox]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """All cases that this machine can play, played once."""
    return judge_recorded(record_cases(playable(load_cases()), tmp_path_factory.mktemp("labelled")))


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
