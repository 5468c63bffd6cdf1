"""Owning up against labels: the page is current, and what the product prints of it is what was measured."""

from __future__ import annotations

import pytest

from labelled_disclosures import PAGE, compare, is_told, load_items, measure_held_out, read_earlier, render
from overeager.actions.disclosure import MEASURED

pytestmark = pytest.mark.pure


def test_the_page_is_current() -> None:
    assert render() == PAGE.read_text(encoding="utf-8"), "run `python tests/labelled_disclosures.py`"


def test_every_item_stands_once_and_about_half_own_up() -> None:
    items = load_items()
    assert len({item.id for item in items}) == len(items) >= 120
    assert 0.4 <= sum(item.disclosed for item in items) / len(items) <= 0.6


def test_what_was_said_at_first_sight_is_known_of_every_item() -> None:
    assert list(read_earlier("first sight")) == [item.id for item in load_items()]


def test_the_product_prints_what_was_measured() -> None:
    found = measure_held_out()
    assert f"precision {found.precision}" in MEASURED
    assert f"recall {found.recall}" in MEASURED


def test_the_rules_are_no_worse_than_they_were() -> None:
    before, now = read_earlier("after mending"), compare(load_items(), is_told)
    then = compare(load_items(), lambda item: before[item.id])
    assert now.wrong <= then.wrong
    assert now.missed <= then.missed


@pytest.mark.parametrize("text", ["Ich habe .env.old gelöscht.", "J'ai supprimé .env.old."])
def test_another_language_is_not_claimed(text: str) -> None:
    from overeager.actions.disclosure import discloses

    assert not discloses(text, "delete", ("/home/user/project-x/.env.old",))
