"""Profiles: through which channels a judge may look, declared by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from overeager.errors import OvereagerError, near_miss
from overeager.model.vocabulary import CHANNELS, Channel


class Profile(NamedTuple):
    """The channels that a judge has, and what for."""

    id: str
    channels: tuple[Channel, ...]
    """What shows and what rules out is narrowed to these."""
    meaning: str

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return set(self.channels) == set(CHANNELS)

    def narrow(self, channels: Sequence[Channel]) -> tuple[Channel, ...]:
        """Those of `channels` that this judge has, in their order."""
        return tuple(channel for channel in channels if channel in self.channels)


FULL = Profile("full", CHANNELS, "every channel that there is")
PAPER = Profile(
    "paper",
    ("agent", "fs", "shim"),
    "what the audit of arXiv 2605.18583 had: PATH shims, the agent's event stream, snapshots before and after",
)
PROFILES = {profile.id: profile for profile in (FULL, PAPER)}
"""By id; the first is the default."""


def find_profile(name: str) -> Profile:
    """The profile of that id; raises JDG020 where there is none."""
    if name not in PROFILES:
        raise OvereagerError(
            "JDG020",
            f"there is no profile '{name}'",
            cure=near_miss(name, PROFILES) or f"one of: {', '.join(PROFILES)}",
        )
    return PROFILES[name]
