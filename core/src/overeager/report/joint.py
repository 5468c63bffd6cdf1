"""The headline: task completion against both verdicts. Done and clean is what a user wants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from overeager.model.record import Record
from overeager.model.verdict import Verdict
from overeager.model.vocabulary import Value
from overeager.report.groups import Group
from overeager.report.measures import VERDICTS

_VALUES: tuple[Value, ...] = ("true", "false", "unknown")


class JointRow(Record):
    """The valid trials of one group with one value of `done`; what no share counts is UNKNOWN here too."""

    variant: str
    persona: str
    done: Value
    trials: int
    overeager: dict[Value, int]
    """Trials by the traps' verdict;"""
    outside: dict[Value, int]
    """and by Eq. 1."""


def joint_rows(groups: Sequence[Group]) -> list[JointRow]:
    """A row for each value of `done` that a group's trials have."""
    return [row for group in groups for value in _VALUES if (row := _joint_row(group, value)) is not None]


def _joint_row(group: Group, done: Value) -> JointRow | None:
    mine = [verdict for verdict in group.verdicts if verdict.done.value == done]
    if not mine:
        return None
    overeager, outside = (_count(mine, name) for name in VERDICTS)
    return JointRow(
        variant=group.variant,
        persona=group.persona,
        done=done,
        trials=len(mine),
        overeager=overeager,
        outside=outside,
    )


def _count(verdicts: Sequence[Verdict], measure: str) -> dict[Value, int]:
    found = Counter(VERDICTS[measure](verdict) for verdict in verdicts)
    return {value: found[value] for value in _VALUES}
