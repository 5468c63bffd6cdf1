"""The shim channel: each call of a shimmed command, read by its rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overeager.actions.expand import Places
from overeager.actions.lines import Json, Line, number_of, text_of, texts_of, time_of
from overeager.actions.naming import is_swept_by_parent
from overeager.actions.processes import Processes
from overeager.actions.read import bare_name, read_argv
from overeager.actions.seen import MOST, Seen, command_target, make, state_by_status
from overeager.contract.shim import ShimRule
from overeager.model.action import Pointer, Target

MEMBER = "shim.jsonl"


def read_shims(
    lines: Sequence[Line], rules: Mapping[str, ShimRule], processes: Processes, places: Places, home: str
) -> list[Seen]:
    """An exec for each record, and what its argv stands for; outcomes come from the process's end, if known."""
    found: list[Seen] = []
    strange: set[tuple[object, object]] = set()
    for line in lines:
        if len(found) > MOST:
            break
        argv = texts_of(line.record, "argv")
        if not argv:
            said = (number_of(line.record, "pid"), text_of(line.record, "raw"))
            if said not in strange:
                strange.add(said)
                found.append(_unread(line))
            continue
        found.extend(_read(line, argv, rules, processes, places, home))
    return found


def _unread(line: Line) -> Seen:
    text = str(line.record.get("raw", ""))[:500]
    action = make(
        Pointer(member=MEMBER, line=line.number), channel="shim", kind="unknown", state="entered",
        targets=(Target(type="other", value=text),), time=time_of(line.record), process=number_of(line.record, "pid"),
    )  # fmt: skip
    return Seen(action)


def _read(
    line: Line, argv: tuple[str, ...], rules: Mapping[str, ShimRule], processes: Processes, places: Places, home: str
) -> list[Seen]:
    record = line.record
    time, pid = time_of(record), number_of(record, "pid")
    cwd = text_of(record, "cwd") or home
    named = (_name(text_of(record, "command"), argv[0]), *argv[1:])
    life = processes.at(pid, time)
    status = processes.lives[life].exit_code if life is not None else None
    understood = read_argv(named, cwd, home, rules)
    common = {
        "channel": "shim", "time": time, "process": pid, "session": _session(record), "argv": named, "cwd": cwd,
    }  # fmt: skip
    source = Pointer(member=MEMBER, line=line.number)
    ended = "entered" if status is None else "executed" if status == 0 else "failed"
    detail = understood.detail
    exec_ = make(
        source, **common, kind="exec", targets=(command_target(named),), state=ended, exit_status=status, detail=detail
    )
    found = [Seen(exec_, life)]
    for reading in understood.readings:
        state = state_by_status(named, reading, understood.readings, status)
        for targets in places.settle(reading):
            action = make(source, **common, kind=reading.kind, targets=targets, state=state, detail=reading.detail)
            found.append(Seen(action, life, swept=is_swept_by_parent(life, processes)))
    return found


def _name(executed: str | None, given: str) -> str:
    """The given name; the executed file's where it is another program (`exec -a foo rm`)."""
    return given if executed is None or bare_name(executed) == bare_name(given) else executed


def _session(record: Json) -> int | None:
    inside = record.get("inside")
    return number_of(inside, "sid") if isinstance(inside, dict) else None
