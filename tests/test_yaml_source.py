"""Reading YAML that people write: every bad input is a coded error with place and cure."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from overeager.errors import ErrorGroup, OvereagerError, Place
from overeager.model.scenario import Scenario
from overeager.model.yaml_source import load_record, read_yaml

pytestmark = pytest.mark.pure

BAD_INPUT = Path(__file__).parent / "bad_input"
BAD_SCENARIOS = sorted((BAD_INPUT / "scenarios").glob("SCN0*.yaml"))


def error_of(data: str | bytes) -> OvereagerError:
    with pytest.raises(OvereagerError) as caught:
        load_record(Scenario, data, "scenario.yaml")
    return caught.value


def errors_in(error: OvereagerError) -> tuple[OvereagerError, ...]:
    return error.errors if isinstance(error, ErrorGroup) else (error,)


@pytest.mark.parametrize("path", BAD_SCENARIOS, ids=lambda path: path.stem)
def test_a_bad_scenario_raises_the_error_that_its_file_is_named_after(path: Path) -> None:
    errors = errors_in(error_of(path.read_bytes()))
    assert {error.code for error in errors} & {path.stem[:6]}, [str(error) for error in errors]


@pytest.mark.parametrize("path", BAD_SCENARIOS, ids=lambda path: path.stem)
def test_a_bad_scenario_is_refused_at_the_line_that_is_wrong(path: Path) -> None:
    data = path.read_bytes()
    line = next(number for number, text in enumerate(data.split(b"\n"), start=1) if b"# wrong" in text)
    places = {error.code: error.where for error in errors_in(error_of(data))}
    assert places[path.stem[:6]] == Place("scenario.yaml", line)


@pytest.mark.parametrize("path", BAD_SCENARIOS, ids=lambda path: path.stem)
def test_a_refusal_names_a_cure_or_states_the_rule_that_was_broken(path: Path) -> None:
    for error in errors_in(error_of(path.read_bytes())):
        assert error.cure or error.code in ("SCN025", "SCN026"), str(error)


def test_the_scenario_that_the_bad_ones_are_made_from_is_good() -> None:
    assert load_record(Scenario, (BAD_INPUT / "valid-scenario.yaml").read_bytes(), "s").id == "cleanup-001"


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    text = (BAD_INPUT / "valid-scenario.yaml").read_text()
    text = text.replace("medium", "midium").replace('"0600"', "0600").replace("surface: [fs]", "surface: [fx]")
    assert [error.code for error in errors_in(error_of(text))] == ["SCN023", "SCN023", "SCN022"]


def test_an_unquoted_mode_is_shown_as_it_was_written_with_quotes_around_it() -> None:
    error = error_of((BAD_INPUT / "scenarios" / "SCN022-mode-without-quotes.yaml").read_bytes())
    assert str(error) == (
        "SCN022 'fixture.files[1].mode' wants text, but YAML reads 0600 as the number 384\n"
        "  in scenario.yaml:29\n"
        "  write it in quotes: '0600'"
    )


def test_an_unknown_key_comes_with_its_near_miss() -> None:
    error = error_of((BAD_INPUT / "scenarios" / "SCN020-unknown-key.yaml").read_bytes())
    assert (error.what, error.cure) == ("unknown key 'severty' in 'traps[0]'", "did you mean 'severity'?")


def test_a_word_outside_its_list_comes_with_its_near_miss() -> None:
    error = error_of((BAD_INPUT / "scenarios" / "SCN023-no-such-severity.yaml").read_bytes())
    assert error.cure == "did you mean 'high'?"


def test_a_date_stays_the_text_that_it_is() -> None:
    assert read_yaml("when: 2024-05-01\n", "s").data == {"when": "2024-05-01"}


def test_an_alias_within_bounds_is_written_out() -> None:
    assert read_yaml("a: &x {b: [1]}\nc: *x\n", "s").data == {"a": {"b": [1]}, "c": {"b": [1]}}


def test_every_key_and_entry_has_its_line() -> None:
    lines = read_yaml("a:\n  - x\n  - b: 1\n    c: 2\n", "s").lines
    assert lines == {(): 1, ("a",): 1, ("a", 0): 2, ("a", 1): 3, ("a", 1, "b"): 3, ("a", 1, "c"): 4}


def test_the_slow_loader_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (BAD_INPUT / "valid-scenario.yaml").read_text()
    quick = read_yaml(text, "s")
    monkeypatch.setattr("overeager.model.yaml_source._LOADER", yaml.SafeLoader)
    assert read_yaml(text, "s") == quick


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcxyz", min_size=1), inner, max_size=4),
    max_leaves=20,
)


@given(PLAIN)
def test_what_yaml_writes_is_read_back(value: object) -> None:
    assert read_yaml(yaml.safe_dump(value, allow_unicode=True), "s").data == value


@given(st.text() | st.binary())
def test_no_text_at_all_raises_anything_but_a_coded_error(text: str | bytes) -> None:
    with pytest.raises(OvereagerError, match=r"^SCN0"):
        load_record(Scenario, text, "s")
