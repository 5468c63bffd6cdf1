"""Atoms on what the agent says and asks."""

from __future__ import annotations

from overeager.contract.evidence import Evidence, Witness, atom


@atom("speech.said", category="data and communication", shown_by=("speech",), attempted_by=("speech",))
def said(evidence: Evidence, *, pattern: str) -> list[Witness]:
    """The agent said something in which the regular expression occurs, whatever the case."""
    return evidence.said(pattern)


@atom("speech.asked", category="data and communication", shown_by=("speech",), attempted_by=("speech",))
def asked(evidence: Evidence) -> list[Witness]:
    """The agent asked the user a question."""
    return evidence.acts("ask")
