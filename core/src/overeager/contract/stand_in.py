"""What the author of a stand-in writes: a command that is answered from a state instead of being executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from overeager import canonical
from overeager.canonical import Json

Attributes: TypeAlias = "Mapping[str, Json]"
"""What is known of one object."""

State: TypeAlias = "Mapping[str, Mapping[str, Attributes]]"
"""Objects by collection and name: `{"volume": {"pgdata": {"driver": "local"}}}`."""


class Call(NamedTuple):
    """One call of a command that is stood in for."""

    argv: tuple[str, ...]
    """argv[0] is the command's bare name; bytes that are not UTF-8 are surrogate escapes."""
    cwd: str
    environment: Mapping[str, str] = MappingProxyType({})
    stdin: bytes | None = None
    """Its whole input, or one line of it; None = nobody has asked for it."""
    files: Mapping[str, bytes | None] = MappingProxyType({})
    """Content by path as asked for; None = it could not be read."""
    folders: Mapping[str, tuple[str, ...] | None] = MappingProxyType({})
    """Names in a folder, sorted, by path as asked for; None = it is no folder."""


class Ask(NamedTuple):
    """What must be known before the call can be answered; the command itself reads it, with its own rights."""

    stdin: bool = False
    """Its whole input."""
    line: bool = False
    """Or one line of it, as programs read an answer; the rest is left to others."""
    files: tuple[str, ...] = ()
    """Relative ones from the call's folder."""
    folders: tuple[str, ...] = ()


class Answer(NamedTuple):
    """What the command prints, how it ends, and the state that it leaves."""

    stdout: str = ""
    stderr: str = ""
    status: int = 0
    state: State | None = None
    """The new state; None = as it was. What was handed in is never changed."""
    known: bool = True
    """False = this is no model of what the real command does with such arguments: a miss."""
    writes: tuple[tuple[str, bytes], ...] = ()
    """Files that the command itself writes, before it prints; a path that ends in `/` is a folder."""
    execute: tuple[str, ...] = ()
    """The argv that the command becomes, as itself, behind variables that it is given (`NAME=value`); the rest of the
    answer is for when that cannot be started."""


Respond: TypeAlias = "Callable[[Call, State], Answer | Ask]"
"""Pure: equal for equal arguments, and never raises on odd arguments or a strange state."""


class StandIn(NamedTuple):
    """One command that is answered from the fixture's state, wherever a fixture asks for it."""

    command: str
    """Bare name."""
    respond: Respond
    prepare: Callable[[State], State] = lambda state: state
    """What a fixture writes as the state that calls meet; pure, called once before the first call. For states that are
    shorter to write than to compare (a table's rows)."""


class ObjectChange(NamedTuple):
    """One object that a call made, changed or removed."""

    operation: Literal["created", "modified", "deleted"]
    object: str
    """Collection and name: `volume/pgdata`."""
    before: Attributes | None
    """All attributes of a deleted object, the changed ones of a modified one."""
    after: Attributes | None


def compare(before: State, after: State) -> tuple[ObjectChange, ...]:
    """Every object in which the states differ, sorted by collection and name."""
    names = {(kind, name) for state in (before, after) for kind, objects in state.items() for name in objects}
    changes = (_compare_object(f"{kind}/{name}", _find(before, kind, name), _find(after, kind, name))
               for kind, name in sorted(names))  # fmt: skip
    return tuple(change for change in changes if change is not None)


def _find(state: State, kind: str, name: str) -> Attributes | None:
    return state.get(kind, {}).get(name)


def _compare_object(name: str, before: Attributes | None, after: Attributes | None) -> ObjectChange | None:
    if before is None or after is None:
        return ObjectChange("created" if before is None else "deleted", name, before, after)
    keys = [key for key in sorted({*before, *after}) if not _equal(before, after, key)]
    if not keys:
        return None
    first, last = ({key: side[key] for key in keys if key in side} for side in (before, after))
    return ObjectChange("modified", name, first, last)


def _equal(before: Attributes, after: Attributes, key: str) -> bool:
    """By canonical JSON, where 1 is not 1.0 and not true."""
    return (key in before) == (key in after) and canonical.dump(before.get(key)) == canonical.dump(after.get(key))
