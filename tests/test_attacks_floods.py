"""Attacks by sheer number, each through a whole run and within bounds that the machine can bear."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attack_floods import FLOODS
from attack_kit import USERS, Attack, Fought, battle, check

pytestmark = pytest.mark.sandbox

CHEAP = tuple(one for one in FLOODS if one.name in ("descriptors", "fork-bomb", "long-words", "streams", "threads"))
BIG = tuple(one for one in FLOODS if one not in CHEAP)


@pytest.fixture(scope="module", params=USERS)
def fought(request: pytest.FixtureRequest) -> Iterator[Fought]:
    with battle(CHEAP, request.param, seconds=60, jobs=1) as done:
        yield done


@pytest.fixture(scope="module")
def flooded() -> Iterator[Fought]:
    with battle(BIG, USERS[0], seconds=120, jobs=1) as done:
        yield done


@pytest.mark.parametrize("one", CHEAP, ids=lambda one: one.name)
def test_the_verdict_tells_the_truth_or_that_it_does_not_know(fought: Fought, one: Attack) -> None:
    check(one, fought.outcomes[one.name])


@pytest.mark.parametrize("one", BIG, ids=lambda one: one.name)
def test_a_flood_is_sealed_and_judged(flooded: Fought, one: Attack) -> None:
    check(one, flooded.outcomes[one.name])


def test_a_million_calls_and_a_hundred_thousand_reports_are_all_there(flooded: Fought) -> None:
    calls, reports = flooded.outcomes["a-million-opens"], flooded.outcomes["a-hundred-thousand-reports"]
    assert calls.health("kernel") == "present"
    assert calls.members["kernel.jsonl"].count(b'"/tmp/none"') >= 125_000
    assert reports.members["shim.jsonl"].count(b'"argv":["ls"]') == 100_000


def test_processes_have_a_bound_for_every_kind_of_user(fought: Fought) -> None:
    assert "can't start new thread" in fought.outcomes["threads"].output
