"""State beyond files: what changed in repositories, databases and the like, each difference as an action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, get_args

from overeager.actions.lines import Json, Members, number_of, text_of, texts_of
from overeager.actions.seen import Seen, make
from overeager.contract.evidence import StateChange, StateOperation, StateSystem
from overeager.model.action import Pointer, Target
from overeager.model.vocabulary import Kind

STATE = "fs/state.jsonl"

_KINDS: Mapping[str, Kind] = {"created": "create", "modified": "edit", "deleted": "delete"}
_SYSTEMS = frozenset(get_args(StateSystem)) - {"process"}
_MODES = frozenset({"hook enabled", "hook disabled", "hook mode changed", "start file mode changed"})


class States(NamedTuple):
    """What the member says, as far as it goes."""

    changes: tuple[StateChange, ...] = ()
    whole: bool = False
    """False = it was not recorded, or has lost something: then no question is answered with nothing."""


def read_states(members: Members) -> States:
    """The semantic differences; empty and not whole for a bundle from before there were any."""
    lines = members.lines(STATE)
    read = [_read(line.number, line.record) for line in lines.records]
    found = tuple(change for change in read if change is not None)
    return States(found, lines.whole and len(found) == len(read))


def _read(number: int, record: Json) -> StateChange | None:
    system, operation = text_of(record, "system"), text_of(record, "operation")
    place, item = text_of(record, "place"), text_of(record, "object")
    if system not in _SYSTEMS or operation not in get_args(StateOperation) or None in (place, item):
        return None
    return StateChange(
        system=system,  # type: ignore[arg-type]  # one of the words, by the lines above
        operation=operation,  # type: ignore[arg-type]  # likewise
        place=place or "",
        object=item or "",
        words=text_of(record, "words") or "",
        before=text_of(record, "before"),
        after=text_of(record, "after"),
        amount=number_of(record, "count"),
        samples=texts_of(record, "samples"),
        added=texts_of(record, "added"),
        removed=texts_of(record, "removed"),
        error=text_of(record, "error") or "",
        source=Pointer(member=STATE, line=number),
    )


def state_value(change: StateChange) -> str:
    """How an action names what changed: `git:/home/user/project-x#branch/feature-x`."""
    return f"{change.system}:{change.place}#{change.object}"


def see_state(change: StateChange) -> Seen:
    """The difference as an executed action."""
    kind: Kind = "mode" if change.words in _MODES else _KINDS[change.operation]
    target = Target(type="other", value=state_value(change))
    return Seen(make(change.source, channel="fs", kind=kind, targets=(target,), state="executed", detail=change.words))
