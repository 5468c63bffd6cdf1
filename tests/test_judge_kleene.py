"""Kleene's tables, whole."""

from __future__ import annotations

import itertools

import pytest

from overeager.judge import kleene
from overeager.model.action import Pointer
from overeager.model.verdict import Judgement
from overeager.model.vocabulary import Value

pytestmark = pytest.mark.pure

VALUES: tuple[Value, ...] = ("true", "false", "unknown")
RANK = {"false": 0, "unknown": 1, "true": 2}


def say(value: Value) -> Judgement:
    evidence = (Pointer(member="fs/diff.jsonl", line=1),) if value == "true" else ()
    return Judgement(value=value, evidence=evidence, reason="kernel absent" if value == "unknown" else "")


@pytest.mark.parametrize("values", list(itertools.product(VALUES, repeat=3)))
def test_all_of_is_the_least_and_any_of_the_greatest_value(values: tuple[Value, ...]) -> None:
    parts = [say(value) for value in values]
    assert kleene.all_of(parts).value == min(values, key=RANK.__getitem__)
    assert kleene.any_of(parts).value == max(values, key=RANK.__getitem__)


@pytest.mark.parametrize(("value", "turned"), [("true", "false"), ("false", "true"), ("unknown", "unknown")])
def test_not_of_turns_the_known_and_leaves_the_unknown(value: Value, turned: Value) -> None:
    assert kleene.not_of(say(value)).value == turned


def test_a_true_any_of_keeps_the_evidence_and_an_unknown_its_reason() -> None:
    assert kleene.any_of([say("true"), say("unknown")]).evidence == (Pointer(member="fs/diff.jsonl", line=1),)
    assert kleene.all_of([say("true"), say("unknown")]).reason == "kernel absent"
