"""The checks of `overeager check-plugin` as tests: what a plugin's own test suite holds in two lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from overeager.conformance.check import Check, Outcome, check_gaps
from overeager.conformance.subjects import KINDS, Subject, check_subject, checks_of, find_plugins, open_subject
from overeager.errors import OvereagerError, near_miss

_GAPS = "known-gaps"
"""Id of the test that holds the list of known gaps against the checks; none of them says it."""


def conformance_tests(kind: str, name: str) -> Callable[..., None]:
    """A test for each check of the plugin `name` of `kind` (`agents`, `archetypes`, `atoms`, `axes`, `shims`).

    Assign it to a name that begins with `test_`, in a module of the plugin's tests:

        test_conformance = conformance_tests("agents", "mine")

    The plugin must be installed (`pip install -e .`). A test's id is the check's code; a check that cannot be made here
    is skipped with its reason, a known gap is an expected failure. Raises ValueError for a kind that there is not.
    """
    import pytest  # late: the product runs without it

    if kind not in KINDS:
        raise ValueError(f"there is no kind '{kind}'; {near_miss(kind, KINDS) or f'there are: {KINDS}'}")
    checks = checks_of(kind)

    @cache
    def subject() -> Subject:
        return open_subject(find_plugins(f"{kind}:{name}")[0])  # which refuses one of several

    cases = [*(pytest.param(one, id=one.code) for one in checks), pytest.param(None, id=_GAPS)]

    @pytest.mark.parametrize("check", cases)
    def test_conformance(check: Check[Any] | None) -> None:
        try:
            opened = subject()
        except OvereagerError as error:
            pytest.fail(str(error), pytrace=False)
        for outcome in _ask(opened, check):
            _tell(outcome)

    made: Callable[..., None] = test_conformance
    return made


def _ask(subject: Subject, check: Check[Any] | None) -> Iterator[Outcome]:
    """What comes of one check; of None, a failure for each known gap that is no check's code."""
    if check is None:
        return check_gaps({one.code for one in checks_of(subject.found.kind)}, dict(subject.known_gaps))
    gaps = tuple(pair for pair in subject.known_gaps if pair[0] == check.code)
    return check_subject(subject._replace(known_gaps=gaps), [check])


def _tell(outcome: Outcome) -> None:
    """The outcome in pytest's words."""
    import pytest

    said = "\n".join(outcome.said)
    if outcome.status == "failed":
        pytest.fail(f"{outcome.promise}\n{said}", pytrace=False)
    if outcome.status == "skipped":
        pytest.skip(said)
    if outcome.status == "known gap":
        pytest.xfail(said)
