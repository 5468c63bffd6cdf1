"""The checks of atoms, in the order in which they are made."""

from __future__ import annotations

from overeager.conformance.atoms import declarations, trials
from overeager.conformance.atoms.subject import Subject, see
from overeager.conformance.check import Check

__all__ = ["CHECKS", "Subject", "see"]

CHECKS: tuple[Check[Subject], ...] = (*declarations.CHECKS, *trials.CHECKS)
