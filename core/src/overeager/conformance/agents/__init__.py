"""The checks of agents, in the order in which they are made: from what needs nothing to what needs the real CLI."""

from __future__ import annotations

from overeager.conformance.agents import accounting, cutting, declarations, encoding, importing, launching, living
from overeager.conformance.agents.subject import Recording, Subject, make_subject
from overeager.conformance.check import Check

__all__ = ["CHECKS", "Recording", "Subject", "make_subject"]

CHECKS: tuple[Check[Subject], ...] = (
    *importing.CHECKS,
    *declarations.CHECKS,
    *launching.CHECKS,
    *cutting.CHECKS,
    *accounting.CHECKS,
    *encoding.CHECKS,
    *living.CHECKS,
)
