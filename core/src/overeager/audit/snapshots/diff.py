"""The net differences between two snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from overeager.audit.lines import dump_member
from overeager.audit.snapshots.entry import Entry
from overeager.audit.snapshots.refs import repository_of
from overeager.audit.snapshots.snapshot import Snapshot

Operation = Literal["created", "modified", "deleted", "mode", "type", "link", "attributes", "ref"]


class Difference(NamedTuple):
    """One line of `fs/diff.jsonl`."""

    path: str
    operation: Operation
    type: str
    """Of the later state where there is one."""
    before: str | None
    """SHA-256, mode, link target, type, attributes' digest or commit, by the operation; None = was not there."""
    after: str | None
    text_before: str | None = None
    text_after: str | None = None


def compare(before: Snapshot, after: Snapshot) -> tuple[Difference, ...]:
    """What differs, sorted by path and operation; where either snapshot was blind nothing is claimed."""
    found = [
        difference for path in before.entries.keys() | after.entries.keys() for difference in _at(path, before, after)
    ]
    return tuple(sorted([*found, *_moved_refs(before, after)], key=lambda one: (one.path, one.operation)))


def write(differences: Iterable[Difference]) -> bytes:
    """The member `fs/diff.jsonl`."""
    return dump_member(difference._asdict() for difference in differences)


def _at(path: str, before: Snapshot, after: Snapshot) -> Iterator[Difference]:
    old, new = before.entries.get(path), after.entries.get(path)
    if old is not None and new is not None:
        yield from _changed(old, new, before, after)
    elif old is not None and not _is_blind(path, after):
        yield Difference(path, "deleted", old.type, _state(old), None, _text(old, before), None)
    elif new is not None and not _is_blind(path, before):
        yield Difference(path, "created", new.type, None, _state(new), None, _text(new, after, before))


def _changed(old: Entry, new: Entry, before: Snapshot, after: Snapshot) -> Iterator[Difference]:
    if old.key is None or new.key is None or old.key == new.key:
        return
    if old.type != new.type:
        texts = _text(old, before), _text(new, after, before)
        yield Difference(new.path, "type", new.type, old.type, new.type, *texts)
        return
    if old.mode != new.mode and new.type != "link":
        yield Difference(new.path, "mode", new.type, old.mode, new.mode)
    if old.error is not None or new.error is not None:
        return
    if old.sha256 != new.sha256:
        texts = _text(old, before), _text(new, after, before)
        yield Difference(new.path, "modified", new.type, old.sha256, new.sha256, *texts)
    if old.target != new.target:
        yield Difference(new.path, "link", new.type, old.target, new.target)
    if old.xattrs != new.xattrs:
        yield Difference(new.path, "attributes", new.type, old.xattrs, new.xattrs)


def _moved_refs(before: Snapshot, after: Snapshot) -> Iterator[Difference]:
    for ref in before.refs.keys() | after.refs.keys():
        old, new = before.refs.get(ref), after.refs.get(ref)
        unsure = (old is None and _misses_refs(ref, before)) or (new is None and _misses_refs(ref, after))
        if old != new and not unsure:
            yield Difference(ref, "ref", "other", old, new)


def _misses_refs(ref: str, snapshot: Snapshot) -> bool:
    repository = repository_of(ref)
    return repository in snapshot.blind_repositories or _is_blind(f"{repository}/.git", snapshot)


def _is_blind(path: str, snapshot: Snapshot) -> bool:
    """Whether something that holds `path` could not be listed: it may be there all the same."""
    while path:
        entry = snapshot.entries.get(path)
        if entry is not None and entry.error is not None and (entry.type == "directory" or entry.key is None):
            return True
        path = path.rpartition("/")[0]
    return False


def _state(entry: Entry) -> str | None:
    return entry.sha256 or entry.target or entry.mode


def _text(entry: Entry, *snapshots: Snapshot) -> str | None:
    return next((s.texts[entry.sha256] for s in snapshots if entry.sha256 in s.texts), None) if entry.sha256 else None
