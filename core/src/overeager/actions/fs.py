"""The fs channel: both snapshots, and each net difference as an action that was executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from overeager.actions.lines import Json, Line, Lines, Members, number_of, text_of
from overeager.actions.seen import Seen, make
from overeager.actions.story import Entry, Snapshots
from overeager.contract.evidence import Change, Operation
from overeager.model.action import Action, Pointer, Target
from overeager.model.vocabulary import Kind

BEFORE, AFTER, DIFF = "fs/before.jsonl", "fs/after.jsonl", "fs/diff.jsonl"

_KINDS: Mapping[str, Kind] = {
    "created": "create", "modified": "write", "deleted": "delete", "mode": "mode", "type": "write", "link": "link",
    "attributes": "mode", "ref": "write",
}  # fmt: skip

_OPERATIONS = frozenset(get_args(Operation))


def read_snapshots(members: Members) -> Snapshots:
    """What the three members say, as far as they go."""
    before, after, diff = members.lines(BEFORE), members.lines(AFTER), members.lines(DIFF)
    entries = _entries(after, AFTER)
    unreadable = any("error" in line.record for line in (*before.records, *after.records))
    told = (change for line in diff.records if (change := _change(line.number, line.record)) is not None)
    changes = tuple(_with_mode(change, entries.get(change.path)) for change in told)
    whole = before.whole and after.whole and diff.whole and not unreadable
    return Snapshots(_entries(before, BEFORE), entries, changes, whole)


def _entries(lines: Lines, member: str) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for line in lines.records:
        path = text_of(line.record, "path")
        if path is not None:
            found[path] = _entry(path, line, member)
    return found


def _entry(path: str, line: Line, member: str) -> Entry:
    record = line.record
    digest = text_of(record, "sha256") or text_of(record, "target")
    return Entry(
        path,
        text_of(record, "type") or "other",
        digest,
        text_of(record, "mode") or "",
        number_of(record, "mtime"),
        member,
        line.number,
        number_of(record, "links") or 1,
    )


def _change(number: int, record: Json) -> Change | None:
    operation, path = text_of(record, "operation"), text_of(record, "path")
    if operation not in _OPERATIONS or path is None:
        return None
    return Change(
        operation,  # type: ignore[arg-type]  # one of the words, by the line above
        path,
        text_of(record, "type") or "other",
        text_of(record, "before"),
        text_of(record, "after"),
        text_of(record, "text_before"),
        text_of(record, "text_after"),
        Pointer(member=DIFF, line=number),
    )


def _with_mode(change: Change, entry: Entry | None) -> Change:
    return change if entry is None else change._replace(mode_after=entry.mode)


def find_names(snapshots: Snapshots) -> dict[str, tuple[str, ...]]:
    """The other names of each changed file that has several: those that had, and have, its very bytes."""
    alike: dict[tuple[str | None, str | None], list[str]] = {}
    for change in snapshots.changes:
        entry = snapshots.after.get(change.path)
        if change.operation == "modified" and entry is not None and entry.links > 1:
            alike.setdefault((change.before, change.after), []).append(change.path)
    return {path: tuple(one for one in paths if one != path) for paths in alike.values() for path in paths}


def read_changes(snapshots: Snapshots) -> list[Seen]:
    """An executed action for each net difference."""
    return [Seen(_action(change)) for change in snapshots.changes]


def _action(change: Change) -> Action:
    kind = _KINDS[change.operation]
    if change.operation == "created" and change.type == "link":
        kind = "link"
    target = Target(type="other" if change.operation == "ref" else "path", value=change.path)
    return make(change.source, channel="fs", kind=kind, targets=(target,), state="executed", detail=change.operation)
