"""What lies on disk at one moment: every path below some roots, by content, mode, target and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from overeager.audit.lines import dump_line, dump_member, join_member
from overeager.audit.snapshots.content import TEXT_LIMIT, Content, read_bytes, read_entry
from overeager.audit.snapshots.entry import Entry
from overeager.audit.snapshots.keeping import HELD_BUDGET, HELD_LIMIT, is_held
from overeager.audit.snapshots.refs import read_refs
from overeager.audit.snapshots.walk import Latch, walk

ENTRY_LIMIT = 200_000
"""Paths that one snapshot holds at most."""

TEXT_BUDGET = 16 << 20
"""Characters of text that one snapshot keeps at most."""

HASH_BUDGET = 8 << 30
"""Bytes that one snapshot reads at most: sparse files cost nothing to make."""

_SIDE = 100
"""Characters that are kept of either end of a long path."""

_BIG = 1 << 20
"""From this size on a second thread pays: hashing lets go of the interpreter's lock."""


class Snapshot(NamedTuple):
    """All entries, and the refs of every repository among them."""

    entries: Mapping[str, Entry]
    """By inside path, sorted."""
    refs: Mapping[str, str]
    """`<repository>:<ref>` to a commit id or `ref: …`."""
    blind_repositories: frozenset[str]
    """Those some of whose refs could not be read."""
    texts: Mapping[str, str]
    """Content of the small UTF-8 files that were read for this snapshot, by SHA-256."""
    problems: tuple[str, ...]
    """What could not be taken; empty = the snapshot is whole."""
    repositories: tuple[str, ...] = ()
    """The folders of all repositories (`…/.git`, or a bare one's own), sorted."""
    held: Mapping[str, bytes] = MappingProxyType({})
    """Bytes by SHA-256 of what is to be compared by its meaning; of a first snapshot only."""
    databases: frozenset[str] = frozenset()
    """SHA-256 of SQLite databases among the files that were read for this snapshot."""


def take(roots: Mapping[str, Path], previous: Snapshot | None = None) -> Snapshot:
    """A snapshot of the host folders in `roots` (by inside path); what is as in `previous` is not read again.

    Follows no link, opens nothing but regular files and directories, and never raises on what it finds: what
    cannot be read becomes an entry with an error, and a problem. Nothing may write below the roots meanwhile.
    """
    known = previous.entries if previous else {}
    with Latch() as latch:
        found = _find(roots, latch)
        fresh = [entry for entry in found if entry.error is None and not _is_as_before(entry, known)]
        contents = _read_all(fresh, latch)
        read = {content.entry.path: content.entry for content in contents}
        entries = {entry.path: read.get(entry.path) or _before(entry, known) for entry in found}
        refs = read_refs(entries, read_bytes)
        held = _hold(contents) if previous is None else {}
    texts, dropped = _keep_texts(contents)
    problems = [f"{_brief(entry.path)}: {entry.error}" for entry in entries.values() if entry.error]
    all_problems = (*problems, *refs.problems, *dropped)
    return Snapshot(
        entries, refs.values, refs.blind, texts, all_problems, refs.folders, held, _find_databases(contents)
    )


def write(snapshot: Snapshot) -> bytes:
    """The member `fs/before.jsonl` or `fs/after.jsonl`."""
    return dump_member(_row(entry) for entry in snapshot.entries.values())


def write_both(before: Snapshot, after: Snapshot) -> tuple[bytes, bytes]:
    """Both members; the line of an entry that is in both, as most are, is made once."""
    lines = {path: dump_line(_row(entry)) for path, entry in before.entries.items()}
    later = (
        lines[path] if entry is before.entries.get(path) else dump_line(_row(entry))
        for path, entry in after.entries.items()
    )
    return join_member(lines.values()), join_member(later)


def _brief(path: str) -> str:
    """A path as a reason names it: whoever makes one of a million characters is not to fill the reasons with it."""
    return path if len(path) <= 2 * _SIDE else f"{path[:_SIDE]}…{path[-_SIDE:]}"


def _find(roots: Mapping[str, Path], latch: Latch) -> list[Entry]:
    found: list[Entry] = []
    for inside, host in sorted(roots.items()):
        found += walk(inside, str(host), ENTRY_LIMIT - len(found), latch)
    return sorted(found, key=lambda entry: entry.path)


def _is_as_before(entry: Entry, known: Mapping[str, Entry]) -> bool:
    before = known.get(entry.path)
    return before is not None and before.error is None and before.key == entry.key


def _before(entry: Entry, known: Mapping[str, Entry]) -> Entry:
    if entry.error:
        return entry
    before = known[entry.path]
    return before if before.host == entry.host else before._replace(host=entry.host)


def _read_all(entries: Iterable[Entry], latch: Latch) -> list[Content]:
    """Small files one by one (threads make them slower), big ones by two threads; none past the budget."""
    contents: list[Content] = []
    big: list[Entry] = []
    budget = HASH_BUDGET
    for entry in entries:
        size = entry.key.size if entry.key is not None and entry.type == "file" else 0
        budget -= size
        if budget < 0 < size:
            contents.append(Content(entry._replace(error="EFBIG")))
        elif size > _BIG:
            big.append(entry)
        else:
            contents.append(read_entry(entry, latch))
    if len(big) < 2:
        return contents + [read_entry(entry, latch) for entry in big]
    with ThreadPoolExecutor(2) as threads:
        return contents + list(threads.map(partial(read_entry, latch=latch), big))


def _keep_texts(contents: Iterable[Content]) -> tuple[dict[str, str], tuple[str, ...]]:
    texts: dict[str, str] = {}
    room = TEXT_BUDGET
    for entry, text, _, _ in contents:
        if text is None or entry.sha256 is None or entry.sha256 in texts:
            continue
        room -= len(text)
        if room < 0:
            return texts, (f"{entry.path}: no room to keep its text, nor that of others",)
        texts[entry.sha256] = text
    return texts, ()


def _hold(contents: Iterable[Content]) -> dict[str, bytes]:
    """As much as there is room for; what is left out cannot be compared, which is told where it has changed."""
    held: dict[str, bytes] = {}
    room = HELD_BUDGET
    for content in contents:
        entry = content.entry
        if entry.key is None or entry.sha256 is None or entry.key.size > min(room, HELD_LIMIT):
            continue
        data = content.held
        if data is None and entry.key.size > TEXT_LIMIT and (content.is_database or is_held(entry.path, b"")):
            data = read_bytes(entry, HELD_LIMIT)
        if data is not None:
            room -= len(data)
            held[entry.sha256] = data
    return held


def _find_databases(contents: Iterable[Content]) -> frozenset[str]:
    return frozenset(content.entry.sha256 or "" for content in contents if content.is_database)


def _row(entry: Entry) -> dict[str, object]:
    if entry.error is not None or entry.key is None:
        return {"path": entry.path, "type": entry.type, "error": entry.error}
    return {
        "path": entry.path,
        "type": entry.type,
        "mode": entry.mode,
        "size": entry.key.size if entry.type == "file" else 0,
        "sha256": entry.sha256,
        "mtime": entry.key.mtime,
        "links": entry.key.links,
        "target": entry.target,
        "xattrs": entry.xattrs,
    }
