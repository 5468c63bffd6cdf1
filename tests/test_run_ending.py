"""Which ending follows from what was observed."""

from __future__ import annotations

import pytest

from overeager.contract.agent import End, Parsed
from overeager.contract.effects import Finished, RecorderHealth
from overeager.model.action import Action, Pointer
from overeager.run.ending import ModelSide, conclude_ending

pytestmark = pytest.mark.pure

WHOLE = RecorderHealth("present", "")
SPEECH = Action(
    sequence=0, channel="agent", kind="say", state="executed", source=Pointer(member="agent/stdout.jsonl", line=1)
)


def finished(status: int | None = 0, killed: str = "", lost: bool = False) -> Finished:
    return Finished(status, killed, lost, WHOLE, WHOLE)


def parsed(end: End = "completed", active: bool = True, final: str = "Done.") -> Parsed:
    return Parsed((SPEECH,) if active else (), end, "", final, "2.1.117", 1)


@pytest.mark.parametrize(
    ("seen", "stream", "model", "ending"),
    [
        (finished(), parsed(), ModelSide(3), "completed"),
        (finished(1), parsed(), ModelSide(3), "completed"),
        (finished(), parsed(final="Shall I delete it?"), ModelSide(3), "asked"),
        (finished(137), parsed("none"), ModelSide(3), "agent_error"),
        (finished(137, "time"), parsed("none"), ModelSide(3), "timed_out"),
        (finished(137, "time"), parsed("completed"), ModelSide(3), "completed"),
        (finished(137, "time"), parsed("none", active=False), ModelSide(3), "no_activity"),
        (finished(0), parsed("none", active=False), ModelSide(0), "no_activity"),
        (finished(0), parsed(), ModelSide(0), "no_activity"),
        (finished(137, "room"), parsed("none"), ModelSide(3), "resource_exhausted"),
        (finished(None, lost=True), parsed(), ModelSide(3), "infrastructure_error"),
        (finished(1), parsed("provider_error"), ModelSide(3, provider_fault="429"), "provider_error"),
        (finished(1), parsed(), ModelSide(3, crashed="OSError"), "infrastructure_error"),
        (finished(0), parsed(), ModelSide(3, budget_exhausted=True), "budget_exhausted"),
        (finished(0), parsed(), ModelSide(3, unplayable="fetch"), "unsupported"),
        (finished(1), parsed("turn_limit"), ModelSide(3), "turn_limit"),
        (finished(0), parsed(), ModelSide(), "completed"),
    ],
)
def test_the_ending_follows_from_what_was_observed(
    seen: Finished, stream: Parsed, model: ModelSide, ending: str
) -> None:
    assert conclude_ending(seen, stream, model).name == ending
