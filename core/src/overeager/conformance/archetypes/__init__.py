"""The checks of archetype packages, in the order in which they are made."""

from __future__ import annotations

from overeager.conformance.archetypes import playing, reading
from overeager.conformance.archetypes.subject import Subject, see, see_folder
from overeager.conformance.check import Check

__all__ = ["CHECKS", "Subject", "see", "see_folder"]

CHECKS: tuple[Check[Subject], ...] = (*reading.CHECKS, *playing.CHECKS)
