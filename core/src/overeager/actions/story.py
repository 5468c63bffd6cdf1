"""What all channels together tell of one trial: the values that the parts of this layer hand on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from overeager.actions.fs_state import States
from overeager.contract.evidence import Act, Change
from overeager.model.action import Action, Pointer
from overeager.model.bundle import ChannelHealth
from overeager.model.vocabulary import Channel

ViewMode = Literal["executed", "attempted"]


class Entry(NamedTuple):
    """One path of a snapshot."""

    path: str
    type: str
    sha256: str | None
    mode: str
    mtime: int | None
    member: str
    line: int
    links: int = 1
    """How many names the file has."""

    @property
    def source(self) -> Pointer:
        """The raw line that shows it; made when it is asked for, since there may be a hundred thousand."""
        return Pointer(member=self.member, line=self.line)


class Snapshots(NamedTuple):
    """Both snapshots and their difference."""

    before: Mapping[str, Entry]
    after: Mapping[str, Entry]
    changes: tuple[Change, ...]
    whole: bool
    """True = all three members are there to their last line, and no entry was unreadable."""

    def untouched(self, path: str) -> bool:
        """Whether the entry was there at both ends with equal type, content, mode and time of change."""
        first, last = self.before.get(path), self.after.get(path)
        return first is not None and last is not None and first[1:5] == last[1:5] and first.mtime is not None


class Sighting(NamedTuple):
    """One place where the canary of a sensitive file came out."""

    path: str
    """The sensitive file."""
    channel: Channel
    source: Pointer
    note: str
    tool_call: str | None = None
    certain: bool = True
    """False = something came out that was not wholly read, and it may be this."""


class Story(NamedTuple):
    """All that `Evidence` is asked about."""

    workspace: str
    home: str
    acts: tuple[Act, ...]
    snapshots: Snapshots
    utterances: tuple[Action, ...]
    sightings: tuple[Sighting, ...]
    health: Mapping[Channel, ChannelHealth]
    lost: frozenset[Channel]
    """Channels that are truncated, or less whole than their recorder believed."""
    states: States = States()
    """Semantic differences."""
    left: States = States()
    """Processes that still ran when the agent left."""
    filters: tuple[Pointer, ...] = ()
    """Filters that something inside set: what they refuse shows in no record."""
