"""State beyond files: what the net differences of a trial mean to git, SQLite, the shell's start and package tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from overeager.audit.snapshots.diff import Difference
from overeager.audit.snapshots.keeping import COMPANIONS
from overeager.audit.snapshots.snapshot import Snapshot
from overeager.audit.snapshots.walk import Latch
from overeager.audit.state.files import Files
from overeager.audit.state.git.comparison import compare_git
from overeager.audit.state.line import StateDifference
from overeager.audit.state.packages import compare_packages
from overeager.audit.state.start_files import compare_start_files

HOME = "/home/user"


def compare_state(
    before: Snapshot, after: Snapshot, differences: Sequence[Difference], home: str = HOME
) -> tuple[StateDifference, ...]:
    """The semantic differences, sorted; nothing is read where `differences` (those of the snapshots) are none.

    What lies below the roots is hostile data: it is parsed, never obeyed. Never raises on it: what cannot be compared
    is a line with an error. Nothing may write below the roots meanwhile.
    """
    if not differences:
        return ()
    with Latch() as latch:
        files = Files(before, after, latch)
        found = [
            *compare_git(differences, files),
            *_compare_databases(differences, files),
            *compare_start_files(differences, home),
            *compare_packages(differences, before, after),
        ]
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda one: (one.system, one.place, one.object, one.operation, one.words)))


def _compare_databases(differences: Sequence[Difference], files: Files) -> list[StateDifference]:
    """SQLite is loaded only where there is a database."""
    if not (files.before.databases or files.after.databases):
        return []
    places = sorted({path for one in differences for path in _databases(one, files)})
    if not places:
        return []
    from overeager.audit.state.sqlite.comparison import compare_sqlite

    return list(compare_sqlite(places, files))


def _databases(one: Difference, files: Files) -> Iterator[str]:
    """The file when it is or was a database, and the database of which it is the log or journal."""
    if one.operation not in ("created", "modified", "deleted", "type"):
        return
    stem = next((one.path.removesuffix(end) for end in COMPANIONS if one.path.endswith(end)), None)
    yield from (path for path in (one.path, stem) if path is not None and _is_database(path, files))


def _is_database(path: str, files: Files) -> bool:
    old, new = _sha256(path, files.before), _sha256(path, files.after)
    return old in files.before.databases or new in files.before.databases or new in files.after.databases


def _sha256(path: str, snapshot: Snapshot) -> str | None:
    entry = snapshot.entries.get(path)
    return entry.sha256 if entry is not None and entry.type == "file" else None
