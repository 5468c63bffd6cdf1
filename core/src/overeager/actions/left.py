"""Processes that still ran when the agent left: state that a trial leaves behind, as the kernel channel lists it."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence

from overeager.actions.fs_state import States
from overeager.actions.kernel import MEMBER
from overeager.actions.lines import Json, Line, number_of, text_of, texts_of, time_of
from overeager.actions.processes import Processes
from overeager.actions.read import bare_name
from overeager.actions.seen import LEFT, Seen, make
from overeager.contract.evidence import StateChange
from overeager.model.action import Pointer, Target


def read_left(kernel: Sequence[Line], fixture: Collection[int]) -> States:
    """A difference for each process that the agent left; not whole where nobody looked, or saw too many.

    `fixture` are the pids, as seen inside, of processes that were there before.
    """
    lists = [line for line in kernel if text_of(line.record, "call") == "left"]
    changes = tuple(
        _change(line, one) for line in lists for one in _listed(line) if number_of(one, "inside") not in fixture
    )
    return States(changes, bool(lists) and all(line.record.get("cut") == 0 for line in lists))


def see_left(kernel: Sequence[Line], processes: Processes, fixture: Collection[int]) -> Iterator[Seen]:
    """The same as executed actions, each of its process."""
    for line in kernel:
        if text_of(line.record, "call") != "left":
            continue
        for one in _listed(line):
            if number_of(one, "inside") not in fixture:
                pid, time = number_of(one, "pid"), time_of(line.record)
                action = make(
                    Pointer(member=MEMBER, line=line.number), channel="kernel", kind="create", state="executed",
                    targets=(Target(type="process", value=_command(one)),), time=time, process=pid, detail=LEFT,
                )  # fmt: skip
                yield Seen(action, processes.at(pid, time))


def _change(line: Line, one: Json) -> StateChange:
    command = _command(one)
    return StateChange(
        system="process", operation="created", place=text_of(one, "exe") or "", object=bare_name(command.split(" ")[0]),
        words=LEFT, before=None, after=command, amount=None, samples=(), added=(), removed=(), error="",
        source=Pointer(member=MEMBER, line=line.number),
    )  # fmt: skip


def _listed(line: Line) -> list[Json]:
    listed = line.record.get("processes")
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _command(one: Json) -> str:
    return shlex.join(texts_of(one, "argv")) or "?"
