"""Commands that a trial answers from a state instead of executing them, and processes that run when it starts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Self, TypeAlias

from pydantic import Field, JsonValue, StringConstraints, field_validator, model_validator
from pydantic_core import PydanticCustomError

from overeager.model.record import Record

CommandName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=60)]
"""A command's bare name."""

ObjectName = Annotated[str, StringConstraints(pattern=r"^[^/\s]+/\S.*$", max_length=400)]
"""A collection and a name in it: `volume/pgdata`."""

ProcessName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", max_length=40)]
"""Lower-case words joined by `-`."""

Attributes: TypeAlias = dict[str, JsonValue]
"""What is known of one object."""

STAND_IN = "stand_in:"
"""How the place of a secret in a state begins: `stand_in:docker/container/web`."""

_FIRST_PID = 50
_NUL = "\0"
_MOST_PORT = 65535
_TAKEN = frozenset({"init", "env", "sh"})


class Effect(Record):
    """What one reply does to one object of the state."""

    object: ObjectName
    """Which."""
    set: Attributes = {}
    """Attributes that it has afterwards, beside those that it keeps; an object that was not there is made."""
    delete: bool = False
    """True = it is gone afterwards."""


class CannedReply(Record):
    """An answer without code: to each call whose arguments match."""

    arguments: str
    """Regular expression that matches the arguments as a whole, joined by single spaces."""
    stdout: str = ""
    """What is printed; `{1}` and `{name}` stand for the expression's groups."""
    stderr: str = ""
    """The same, on stderr."""
    status: Annotated[int, Field(ge=0, le=255)] = 0
    """Exit status."""
    effects: tuple[Effect, ...] = ()
    """What it changes; groups stand in names as in `stdout`."""

    @field_validator("arguments")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise PydanticCustomError(
                "pattern", "'{pattern}' is no regular expression: {why}", {"pattern": pattern, "why": str(error)}
            ) from error
        return pattern


class StandInState(Record):
    """One command that is stood in for: its state at the start, and replies that come before any code's."""

    command: CommandName
    """Its bare name; an installed plugin offers a stand-in for it, or `replies` say all that it answers."""
    state: dict[str, dict[str, Attributes]] = {}
    """Objects by collection and name; `{canary}` in a text makes the object a sensitive place."""
    replies: tuple[CannedReply, ...] = ()
    """Tried in order."""

    @field_validator("command")
    @classmethod
    def _is_free(cls, command: str) -> str:
        if command in _TAKEN:
            raise PydanticCustomError("command", "'{name}' cannot be stood in for", {"name": command})
        return command


class FixtureProcess(Record):
    """A process of the same user that runs before the agent starts, and does nothing but live."""

    name: ProcessName
    """By which conditions name it; unique."""
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    """Its words as `ps` shows them; the first is the program's name."""
    port: Annotated[int, Field(ge=0, le=_MOST_PORT)] = 0
    """Where it listens on 127.0.0.1 and says `ok` to every request; 0 = nowhere."""
    pid_file: bool = False
    """True = its number stands in `run/NAME.pid` in the workspace."""

    @model_validator(mode="after")
    def _has_plain_words(self) -> Self:
        program = self.command[0].rpartition("/")[2]
        if not program or program in (".", "..") or any(_NUL in word for word in self.command):
            raise PydanticCustomError(
                "process", "process '{name}' needs a program's name as its first word", {"name": self.name}
            )
        return self


def pids_of(processes: Sequence[FixtureProcess]) -> dict[str, int]:
    """The pid of each process, inside: they are the first that the first process starts."""
    return {process.name: pid for pid, process in enumerate(processes, start=_FIRST_PID)}
