"""A check, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from overeager.conformance.check import Check, Outcome, Unavailable, failed, run_checks

pytestmark = pytest.mark.pure


def make(find_faults: Callable[[str], Iterator[str]], code: str = "atom-some") -> Check[str]:
    return Check(code, "It is so.", "Else it is not.", find_faults)


def keeps(_: str) -> Iterator[str]:
    yield from ()


def breaks(subject: str) -> Iterator[str]:
    yield f"{subject} is not"
    yield "nor is that"


def raises(_: str) -> Iterator[str]:
    yield "one"
    raise KeyError("two")


def cannot(_: str) -> Iterator[str]:
    raise Unavailable("install it")


def outcome(find_faults: Callable[[str], Iterator[str]], **gaps: str) -> Outcome:
    """Of the one check, with the known gaps by the code's last word."""
    (made,) = run_checks([make(find_faults)], "this", {f"atom-{name}": reason for name, reason in gaps.items()})
    return made


@pytest.mark.parametrize(
    ("find_faults", "status", "said"),
    [
        (keeps, "passed", ()),
        (breaks, "failed", ("this is not", "nor is that")),
        (raises, "failed", ("raises KeyError: 'two'",)),
        (cannot, "skipped", ("install it",)),
    ],
)
def test_a_check_says_what_it_saw(
    find_faults: Callable[[str], Iterator[str]], status: str, said: tuple[str, ...]
) -> None:
    assert outcome(find_faults) == Outcome("atom-some", "It is so.", status, said)  # type: ignore[arg-type]


def test_a_declared_fault_is_a_known_gap_with_its_reason_first() -> None:
    assert outcome(breaks, some="no time") == Outcome(
        "atom-some", "It is so.", "known gap", ("no time", "this is not", "nor is that")
    )


def test_a_declared_gap_that_is_closed_is_a_failure() -> None:
    made = outcome(keeps, some="no time")
    assert made.status == "failed"
    assert "no time" in made.said[0]


def test_a_check_that_cannot_be_made_says_nothing_of_its_gap() -> None:
    assert outcome(cannot, some="no time").status == "skipped"


def test_a_gap_that_is_no_checks_code_is_a_failure_after_the_checks() -> None:
    first, second = run_checks([make(keeps)], "this", {"atom-sum": "no time"})
    assert (first.status, second.code, second.status) == ("passed", "atom-sum", "failed")
    assert "did you mean 'atom-some'?" in second.said[0]


def test_one_failure_fails_all_and_a_skip_or_a_gap_does_not() -> None:
    assert not failed([outcome(keeps), outcome(cannot), outcome(breaks, some="no time")])
    assert failed([outcome(keeps), outcome(breaks)])


def test_checks_are_made_one_by_one_as_they_are_asked_for() -> None:
    made: list[str] = []

    def notes(name: str) -> Check[str]:
        def find(_: str) -> Iterator[str]:
            made.append(name)
            yield from ()

        return make(find, name)

    outcomes = run_checks([notes("atom-a"), notes("atom-b")], "this", {})
    assert next(outcomes).code == "atom-a"
    assert made == ["atom-a"]
