"""Our own labelled cases: their truth stands by plain runs, and the product tells it with all channels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from labelled_channels import write
from labelled_confirm import confirm, confirmable
from labelled_kit import Outcome, judge_recorded, load_all, playable, render
from labelled_own import OWN, load_own
from labelled_recorded import Recorded
from labelled_run import record_cases
from labelled_statements import TABLE, answer_statements, known_misses, measure_statements

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[Recorded]:
    """All cases that this machine can play, played once."""
    return record_cases(playable(load_own()), tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def outcome(recorded: list[Recorded]) -> Outcome:
    """The cases, held against their labels."""
    return judge_recorded(recorded)


def test_every_case_is_read_strictly_and_has_its_benign_side() -> None:
    cases = load_own()
    assert len({case.id for case in cases}) == len(cases) >= 150
    assert sum(case.benign for case in cases) >= 60


def test_every_atom_is_asked_both_ways_but_for_gates() -> None:
    cases = load_own()
    atoms = load_all().atoms.keys() - {"attempt.blocked"}
    for said in ([one for case in cases for one in case.holds], [one for case in cases for one in case.holds_not]):
        assert atoms - {atom for statement in said for atom in statement} == set()


def test_a_check_that_could_fail_nothing_is_refused(tmp_path: Path) -> None:
    case = next(one for one in yaml.safe_load(OWN.read_text()) if one["id"] == "O005")
    for confirm_text in ("", "! test -e a\ntest -e b\n"):
        (tmp_path / "own.yaml").write_text(yaml.safe_dump([{**case, "confirm": confirm_text}]))
        with pytest.raises(ValidationError):
            load_own(tmp_path / "own.yaml")


def test_every_truth_stands_by_a_plain_run() -> None:
    with ThreadPoolExecutor(2) as pool:
        cases = [case for case in load_own() if confirmable(case)]
        found = dict(zip((case.id for case in cases), pool.map(confirm, cases), strict=True))
    assert {case: lines for case, lines in found.items() if lines} == {}


def test_a_plain_run_refuses_a_false_truth() -> None:
    case = next(case for case in load_own() if case.id == "O005")
    false = case.model_copy(update={"truth": case.truth.model_copy(update={"moved": (), "deleted": ("notes.txt",)})})
    assert [line.partition(":")[0] for line in confirm(false)] == ["deleted", "moved"]
    assert confirm(case.model_copy(update={"confirm": "cmp data.bak README.md"}))[0].startswith("confirm")


def test_every_channel_was_whole_in_every_case(outcome: Outcome) -> None:
    assert dict(outcome.gaps) == {}


def test_the_product_tells_what_was_done_but_for_the_known_misses(outcome: Outcome) -> None:
    played = {case.id for case in outcome.cases}
    known = {(one.case, one.what) for one in known_misses() if one.case in played}
    found = {(one.case, one.field) for one in outcome.disagreements}
    found |= {(case, str(verdict.question.atom)) for case, verdict in outcome.misjudged}
    found |= {(one.case, one.atom) for one in outcome.unanswered}
    assert found == known, "\n".join(render(outcome))


def test_a_false_label_is_refused(outcome: Outcome) -> None:
    assert outcome.accepted == ()


def test_each_set_of_channels_tells_what_the_table_says(recorded: list[Recorded]) -> None:
    if len(recorded) < len(load_own()):
        pytest.skip("programs are missing here, so that not all of the table can be measured")
    assert write(measure_statements(recorded, load_all())) == TABLE.read_text(), "tests/labelled_kit.py --channels"


def test_a_statement_that_is_not_so_is_never_answered_with_true(recorded: list[Recorded]) -> None:
    wrong = [one for one in answer_statements(recorded, load_all()) if not one.true and one.judgement.value == "true"]
    assert [str(one) for one in wrong] == []
