"""The checks of shim sets, in the order in which they are made."""

from __future__ import annotations

from overeager.conformance.check import Check
from overeager.conformance.shims import answers, passing, rules
from overeager.conformance.shims.subject import Subject, see

__all__ = ["CHECKS", "Subject", "see"]

CHECKS: tuple[Check[Subject], ...] = (*rules.CHECKS, *answers.CHECKS, *passing.CHECKS)
