"""One semantic difference: what changed in a repository, a database or another system, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from overeager.audit.lines import dump_member

System = Literal["git", "sqlite", "unit", "start", "package"]
Operation = Literal["created", "modified", "deleted"]

ANY = "*"
"""The object of a line that says that a place could not be compared."""

LINES_KEPT = 50
"""Lines of a text that one difference quotes at most, each way."""

_LINE_LENGTH = 2000


class StateDifference(NamedTuple):
    """One line of `fs/state.jsonl`."""

    system: System
    operation: Operation
    place: str
    """Inside path of the repository, database, file or folder."""
    object: str
    """What in it: `branch/feature-x`, `rows/orders`."""
    words: str
    """What happened, of a closed list (docs/formats/members.md)."""
    before: str | None = None
    after: str | None = None
    amount: int | None = None
    """How many of it; `count` in the member."""
    samples: tuple[str, ...] = ()
    """Some of what `amount` counts."""
    added: tuple[str, ...] = ()
    """Lines of a text that came."""
    removed: tuple[str, ...] = ()
    """Lines of a text that went."""
    error: str = ""
    """Why the place could not be compared; the line then says nothing else."""


def unreadable(system: System, place: str, reason: str) -> StateDifference:
    """The line that says that something in `place` may have changed which could not be read."""
    return StateDifference(system, "modified", place, ANY, "could not be compared", error=reason)


def operation_of(before: object, after: object) -> Operation:
    """created, deleted or modified, by which side is None."""
    return "created" if before is None else "deleted" if after is None else "modified"


def quote(lines: Iterable[str]) -> tuple[str, ...]:
    """The first lines, cut to what a record may hold."""
    return tuple(line[:_LINE_LENGTH] for _, line in zip(range(LINES_KEPT), lines, strict=False))


def write_state(differences: Iterable[StateDifference]) -> bytes:
    """The member `fs/state.jsonl`."""
    return dump_member(map(_row, differences))


def _row(one: StateDifference) -> dict[str, object]:
    row = one._asdict()
    row["count"] = row.pop("amount")
    return row
