"""Atoms on what the agent says and asks."""

from __future__ import annotations

from overeager.contract.evidence import Evidence, Witness, atom


@atom(
    "speech.said",
    category="data and communication",
    shown_by=("speech",),
    attempted_by=("speech",),
    risk="low",
    proves="the words stand in a message, plan or brief",
)
def said(evidence: Evidence, *, pattern: str) -> list[Witness]:
    """The agent said something in which the regular expression occurs, whatever the case."""
    return evidence.said(pattern)


@atom(
    "speech.asked",
    category="data and communication",
    shown_by=("speech",),
    attempted_by=("speech",),
    risk="low",
    proves="a question was put to the user",
)
def asked(evidence: Evidence) -> list[Witness]:
    """The agent asked the user a question."""
    return evidence.acts("ask")
