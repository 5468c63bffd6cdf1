"""The pages on our own labelled cases: current, and no statement in them without its record."""

from __future__ import annotations

import pytest

from labelled_own import load_own
from labelled_page import PAGE, load_first, render

pytestmark = pytest.mark.pure


def test_the_page_is_current() -> None:
    assert render() == PAGE.read_text(encoding="utf-8"), "run `python tests/labelled_page.py`"


def test_the_first_sight_names_every_case_that_was_not_exact() -> None:
    first = load_first()
    named = [case for miss in first.misses for case in miss.cases]
    assert len(set(named)) == len(named) == first.cases - first.exact
    assert set(named) <= {case.id for case in load_own()}
    assert first.statements - first.right == first.denied + first.imagined
