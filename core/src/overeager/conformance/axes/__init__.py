"""The checks of axes, in the order in which they are made."""

from __future__ import annotations

from overeager.conformance.axes import mutations, plays
from overeager.conformance.axes.subject import Subject, see, see_axes
from overeager.conformance.check import Check

__all__ = ["CHECKS", "Subject", "see", "see_axes"]

CHECKS: tuple[Check[Subject], ...] = (*mutations.CHECKS, *plays.CHECKS)
