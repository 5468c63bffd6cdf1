"""Atoms give witnesses; channels decide between FALSE and UNKNOWN."""

from __future__ import annotations

import pytest

from overeager.contract.evidence import AtomDeclaration, Witness, atom
from overeager.errors import OvereagerError
from overeager.judge.evaluate import Ground, evaluate
from overeager.model.action import Pointer
from overeager.model.bundle import ChannelHealth
from overeager.model.condition import Condition
from overeager.model.vocabulary import Channel, Health, Value

pytestmark = pytest.mark.pure

POINTER = Pointer(member="kernel.jsonl", line=7)


class Lines:
    """Evidence that is a list of (channel, certain) lines."""

    def __init__(self, *lines: tuple[str, bool]) -> None:
        self.lines = lines

    def narrowed(self, channels: tuple[Channel, ...], mode: str) -> Lines:
        return Lines(*(line for line in self.lines if line[0] in channels))


@atom("toy.seen", category="files read", shown_by=("agent", "kernel"), ruled_out_by=("agent", "kernel"))
def seen(evidence: Lines) -> list[Witness]:
    """Something was seen."""
    return [Witness((POINTER,), certain) for _, certain in evidence.lines]


@atom("toy.broken", category="files read", shown_by=("agent",))
def broken(evidence: Lines) -> list[Witness]:
    """Breaks."""
    raise RuntimeError("odd")


ATOMS: dict[str, AtomDeclaration] = {
    "toy.seen": seen.overeager_atom,  # type: ignore[attr-defined]
    "toy.broken": broken.overeager_atom,  # type: ignore[attr-defined]
}


def ground(evidence: Lines, agent: Health = "present", kernel: Health = "present") -> Ground:
    health: dict[Channel, ChannelHealth] = {
        "agent": ChannelHealth(state=agent),
        "kernel": ChannelHealth(state=kernel),
    }
    return Ground(evidence, health, ATOMS)  # type: ignore[arg-type]  # a small fake of the evidence


SEEN = Condition.model_validate({"toy.seen": {}})


@pytest.mark.parametrize(
    ("evidence", "agent", "kernel", "value"),
    [
        (Lines(("kernel", True)), "present", "present", "true"),
        (Lines(("kernel", True)), "absent", "truncated", "true"),
        (Lines(("kernel", False)), "present", "present", "unknown"),
        (Lines(("kernel", False), ("agent", True)), "present", "present", "true"),
        (Lines(), "present", "present", "false"),
        (Lines(), "present", "absent", "unknown"),
        (Lines(), "truncated", "present", "unknown"),
        (Lines(("net", True)), "present", "present", "false"),
    ],
)
def test_an_atom_is_false_only_when_every_ruling_channel_is_whole(
    evidence: Lines, agent: Health, kernel: Health, value: Value
) -> None:
    assert evaluate(SEEN, ground(evidence, agent, kernel)).judgement.value == value


def test_every_true_points_at_raw_lines_and_every_unknown_has_a_reason() -> None:
    assert evaluate(SEEN, ground(Lines(("kernel", True)))).judgement.evidence == (POINTER,)
    assert "kernel absent" in evaluate(SEEN, ground(Lines(), kernel="absent")).judgement.reason
    assert "kernel.jsonl:7" in evaluate(SEEN, ground(Lines(("kernel", False)))).judgement.reason


def test_what_is_true_by_absence_says_what_was_looked_for_and_where() -> None:
    denied = evaluate(Condition.model_validate({"not_of": {"toy.seen": {}}}), ground(Lines()))
    assert (denied.judgement.value, denied.judgement.reason) == ("true", "no toy.seen in agent, kernel")
    assert denied.parts[0].ruled_out_by == ("agent", "kernel")
    shown = evaluate(Condition.model_validate({"not_of": {"toy.seen": {}}}), ground(Lines(("kernel", True))))
    assert (shown.judgement.value, shown.judgement.reason) == ("false", "")


def test_an_unknown_atom_and_a_broken_one_stop_the_judge() -> None:
    with pytest.raises(OvereagerError, match="JDG001"):
        evaluate(Condition.model_validate({"toy.sen": {}}), ground(Lines()))
    with pytest.raises(OvereagerError, match=r"JDG002.*toy\.broken.*RuntimeError: odd"):
        evaluate(Condition.model_validate({"toy.broken": {}}), ground(Lines()))


def test_an_atom_whose_ruling_channels_leave_out_a_showing_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"toy\.bad"):
        atom("toy.bad", category="files read", shown_by=("agent", "shim"), ruled_out_by=("agent",))
