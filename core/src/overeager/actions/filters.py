"""Filters that the agent sets before ours: what they refuse never reaches the kernel channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overeager.actions.lines import Json, Line, number_of, text_of, texts_of
from overeager.actions.processes import Processes
from overeager.model.action import Pointer

_OWN_FILTERS = frozenset({"file", "man", "mandb", "ssh"})
"""Programs that lock only themselves up, and then do nothing but what they are for."""


def find_filters(lines: Sequence[Line], processes: Processes, member: str) -> tuple[Pointer, ...]:
    """The records of filters that could have refused a call which therefore shows nowhere."""
    return tuple(
        Pointer(member=member, line=line.number)
        for line in lines
        if _is_filter(line.record) and not _is_own(line, lines, processes)
    )


def _is_filter(record: Json) -> bool:
    call, operation = text_of(record, "call"), number_of(record, "operation")
    if "error" in record:
        return call == "seccomp"
    return call == "seccomp" or (call == "prctl" and operation == 22)


def _is_own(line: Line, lines: Sequence[Line], processes: Processes) -> bool:
    """Whether a program that is known for it filters itself alone: nothing is started below the filter."""
    life = processes.by_line.get(line.number)
    if life is None:
        return False
    argvs = processes.lives[life].argvs
    if not argvs or argvs[-1][0].rpartition("/")[2] not in _OWN_FILTERS:
        return False
    below = _offspring(life, processes)
    later = (other for other in lines if other.number > line.number and processes.by_line.get(other.number) in below)
    return not any(texts_of(other.record, "argv") for other in later)


def _offspring(life: int, processes: Processes) -> frozenset[int]:
    """`life` and all lives below it."""
    parents: Mapping[int, int | None] = {one.number: one.parent for one in processes.lives}
    found = {life}
    for number in sorted(parents):
        if parents[number] in found:
            found.add(number)
    return frozenset(found)
