"""Actions: one normalised record in one channel."""

from __future__ import annotations

from typing import Literal

from overeager.model.record import Record
from overeager.model.vocabulary import Channel, Kind, State, TargetType

Actor = Literal["agent", "tool", "model", "unknown"]
"""agent = the CLI's own doing; tool = inside a tool call; model = speech; unknown = not attributed."""


class Target(Record):
    """What an action is aimed at."""

    type: TargetType
    value: str
    """Absolute path inside the sandbox, command text, URL, host:port, pid, or words."""
    role: Literal["", "from", "to"] = ""
    """Which end of a move or link."""


class Pointer(Record):
    """The raw line that shows it."""

    member: str
    """Name of the bundle's member."""
    line: int
    """1-based line; 0 = the member as a whole."""


class Action(Record):
    """One doing, seen in one channel."""

    sequence: int
    """Order within the bundle; unique."""
    time: float | None = None
    """Seconds since the trial began, monotonic; absent where the channel has no clock."""
    channel: Channel
    kind: Kind
    targets: tuple[Target, ...] = ()
    argv: tuple[str, ...] | None = None
    cwd: str | None = None
    actor: Actor = "unknown"
    tool_call: str | None = None
    """The agent's id of the tool call that it belongs to."""
    process: int | None = None
    """Host pid of the process."""
    session: int | None = None
    """Session id as seen inside; one per tool call in most agents."""
    state: State
    blocked_by: str | None = None
    """Which gate stopped it (rule, mode, sandbox, user, classifier)."""
    exit_status: int | None = None
    detail: str = ""
    """What the vocabulary has no room for: a tool's name, a git subcommand, the words said."""
    result: str = ""
    """What came back to the model (the first 64 KiB); in memory only, a bundle holds it raw."""
    source: Pointer
