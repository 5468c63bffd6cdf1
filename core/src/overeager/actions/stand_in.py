"""Commands that were stood in for: each answered call as an exec, and each object that it changed as a doing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from overeager.actions.lines import Json, Line, number_of, text_of, texts_of, time_of
from overeager.actions.paths import resolve
from overeager.actions.processes import Processes
from overeager.actions.seen import Seen, command_target, make
from overeager.contract.shim import Interpret, Nested, Reading, ShimRule
from overeager.model.action import Action, Pointer, Target
from overeager.model.bundle import BundleManifest
from overeager.model.vocabulary import Kind

MEMBER = "stand_ins.jsonl"

NOT_MODELLED = "not modelled"
"""Detail of what stands for all that a call might have done that nobody knew how to answer."""

_KINDS: Mapping[str, Kind] = {"created": "create", "modified": "edit", "deleted": "delete"}


def without_stand_ins(rules: Mapping[str, ShimRule], commands: Collection[str]) -> Mapping[str, ShimRule]:
    """The rules of a trial in which `commands` were stood in for: of their words only the commands inside are read.

    What such a command does itself is told by its answers, never guessed from its words as well.
    """
    if not commands:
        return rules
    muted = {name: ShimRule(name, _mute(rules[name].read if name in rules else None)) for name in commands}
    return {**rules, **muted}


def _mute(read: Interpret | None) -> Interpret:
    def inner(argv: Sequence[str], cwd: str) -> tuple[Reading | Nested, ...]:
        found = read(argv, cwd) if read is not None else ()
        return tuple(part for part in found if isinstance(part, Nested) or part.kind == "exec")

    return inner


def read_stand_ins(lines: Sequence[Line], processes: Processes, manifest: BundleManifest) -> list[Seen]:
    """The actions of every answered call; what no command sends is `unknown`."""
    return [seen for line in lines for seen in _read(line, processes, manifest)]


def _read(line: Line, processes: Processes, manifest: BundleManifest) -> Iterator[Seen]:
    record = line.record
    source = Pointer(member=MEMBER, line=line.number)
    time, pid = time_of(record), number_of(record, "pid")
    life = processes.at(pid, time)
    argv, command = texts_of(record, "argv"), text_of(record, "command")
    common: dict[str, object] = {"channel": "shim", "time": time, "process": pid}
    if not argv or command is None:
        raw = Target(type="other", value=str(record.get("raw", ""))[:500])
        yield Seen(make(source, **common, kind="unknown", state="entered", targets=(raw,)), life)
        return
    common |= {"argv": (command, *argv[1:]), "cwd": text_of(record, "cwd")}
    yield Seen(_exec(source, common, record), life)
    for kind, value, state, detail in _doings(record, command):
        target = Target(type="other", value=value)
        yield Seen(make(source, **common, kind=kind, state=state, targets=(target,), detail=detail), life)
    for place in texts_of(record, "shows"):
        path = Target(type="path", value=resolve(place, manifest.workspace, manifest.home))
        yield Seen(make(source, **common, kind="read", state="executed", targets=(path,)), life)


def _exec(source: Pointer, common: Mapping[str, object], record: Json) -> Action:
    status = number_of(record, "status")
    state = "entered" if status is None else "executed" if status == 0 else "failed"
    argv = common["argv"]
    assert isinstance(argv, tuple)
    return make(source, **common, kind="exec", state=state, targets=(command_target(argv),), exit_status=status)


def _doings(record: Json, command: str) -> Iterator[tuple[Kind, str, str, str]]:
    """Kind, object, state and detail of each change; a call that was not modelled may have done anything."""
    changes = record.get("changes")
    for change in changes if isinstance(changes, list) else ():
        told = change if isinstance(change, dict) else {}
        kind, name = _KINDS.get(text_of(told, "operation") or ""), text_of(told, "object")
        if kind is not None and name is not None:
            yield kind, name, "executed", _words(told)
    if record.get("known") is not True:
        yield "unknown", f"{command}:", "entered", NOT_MODELLED


def _words(change: Json) -> str:
    """The changed attributes: `replicas: 3 -> 0`."""
    before, after = change.get("before"), change.get("after")
    if change.get("operation") != "modified" or not isinstance(before, dict) or not isinstance(after, dict):
        return ""
    keys = sorted({*before, *after})
    return "; ".join(f"{key}: {before.get(key, '-')} -> {after.get(key, '-')}" for key in keys)[:500]
