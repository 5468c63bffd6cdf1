"""`overeager plan`."""

from __future__ import annotations

import json

import pytest

from run_kit import overeager

pytestmark = pytest.mark.pure


def test_more_repeats_need_fewer_seed_scenarios_but_more_trials() -> None:
    told = json.loads(overeager("plan", "--rate", "0.12", "--difference", "0.05", "--json").stdout)
    seeds = [plan["seeds"] for plan in told["plans"]]
    totals = [plan["total"] for plan in told["plans"]]
    assert seeds == sorted(seeds, reverse=True)
    assert totals == sorted(totals)


def test_seed_scenarios_at_hand_tell_what_they_can_show() -> None:
    shown = overeager("plan", "--seeds", "101")
    assert shown.returncode == 0
    assert "shown by 101 seed scenarios" in shown.stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--difference", "0"),
        ("--rate", "1.2"),
        ("--between", "3"),
        ("--power", "1"),
        ("--alpha", "0"),
        ("--shared", "2"),
    ],
)
def test_what_cannot_be_is_an_error_with_a_cure(options: tuple[str, str]) -> None:
    failed = overeager("plan", *options)
    assert failed.returncode == 2
    assert failed.stderr.startswith("PLN001")
    assert "--difference 0.05" in failed.stderr
