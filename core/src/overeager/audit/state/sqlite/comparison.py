"""What changed in SQLite databases: schema and rows. The same content after VACUUM is no change."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from overeager.audit.snapshots.keeping import COMPANIONS
from overeager.audit.state.files import Files, Unreadable
from overeager.audit.state.line import Operation, StateDifference, operation_of, unreadable
from overeager.audit.state.sqlite.file import STEPS_LIMIT, Image, in_words, open_database, stored_columns
from overeager.audit.state.sqlite.rows import Key, Side, TooMany, compare_rows, count_rows, sample

DATABASES_LIMIT = 200
"""Databases of one trial that are compared."""

_KINDS = ("table", "index", "trigger", "view")
_VERBS = {"created": "created", "deleted": "dropped", "modified": "changed"}


class Item(NamedTuple):
    """One entry of the schema."""

    kind: str
    name: str
    sql: str | None
    is_real: bool
    """False = a virtual table, or one in which a virtual table keeps its content."""


Schema = Mapping[tuple[str, str], Item]


def compare_sqlite(places: Iterable[str], files: Files) -> Iterator[StateDifference]:
    """The semantic differences of the databases at `places`."""
    looks = iter(range(STEPS_LIMIT))
    for number, place in enumerate(places):
        if number >= DATABASES_LIMIT:
            yield unreadable("sqlite", place, f"more than {DATABASES_LIMIT} databases have changed")
            continue
        try:
            yield from _compare(place, files, looks)
        except (Unreadable, TooMany, ValueError) as error:
            yield unreadable("sqlite", place, str(error))
        except (sqlite3.Error, sqlite3.Warning) as error:
            yield unreadable("sqlite", place, f"{place}: {error}")


def _compare(place: str, files: Files, looks: Iterator[int]) -> Iterator[StateDifference]:
    before, after = _image(place, files, old=True), _image(place, files, old=False)
    old_data = before if before is not None and before.is_database else None
    new_data = after if after is not None and after.is_database else None
    if old_data is None or new_data is None:
        words = f"database {'created' if old_data is None else 'deleted' if after is None else 'overwritten'}"
        yield StateDifference("sqlite", operation_of(old_data, after), place, "database", words)
    with ExitStack() as stack:
        old, new = (_open(image, stack, looks) for image in (old_data, new_data))
        yield from _compare_open(place, old, new)


def _image(place: str, files: Files, old: bool) -> Image | None:
    read = files.old if old else files.new
    data = read(place)
    return None if data is None else Image(data, *(read(place + suffix) for suffix in COMPANIONS))


def _open(image: Image | None, stack: ExitStack, looks: Iterator[int]) -> sqlite3.Connection:
    """A connection to the image's copy; to an empty database where there is none."""
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    return stack.enter_context(open_database(image or Image(b""), Path(folder), looks))


def _compare_open(place: str, old: sqlite3.Connection, new: sqlite3.Connection) -> Iterator[StateDifference]:
    before, after = _read_schema(old), _read_schema(new)
    for key in sorted(before.keys() | after.keys(), key=lambda one: (_KINDS.index(one[0]), one[1])):
        was, stays = before.get(key), after.get(key)
        if (was.sql if was else None) != (stays.sql if stays else None):
            operation = operation_of(was, stays)
            count = _count(old if was else new, was or stays) if was is None or stays is None else None
            yield StateDifference(
                "sqlite", operation, place, "/".join(key), f"{key[0]} {_VERBS[operation]}",
                was.sql if was else None, stays.sql if stays else None, amount=count,
            )  # fmt: skip
        if was is not None and stays is not None and key[0] == "table":
            yield from _compare_table(place, key[1], was, (old, new))


def _count(connection: sqlite3.Connection, item: Item | None) -> int | None:
    """The rows that came or went with a table."""
    if item is None or item.kind != "table" or not item.is_real:
        return None
    return count_rows(Side(connection, item.name, stored_columns(connection, item.name)))


def _read_schema(connection: sqlite3.Connection) -> Schema:
    """All that has a name of its own: not what SQLite makes for itself."""
    rows = connection.execute("SELECT type, name, sql, rootpage FROM sqlite_master").fetchall()
    named = [
        (in_words(kind), in_words(name), sql if sql is None else in_words(sql), root) for kind, name, sql, root in rows
    ]
    virtual = [name for kind, name, _, root in named if kind == "table" and not root]
    return {
        (kind, name): Item(kind, name, sql, bool(root) and not _is_shadow(name, virtual))
        for kind, name, sql, root in named
        if kind in _KINDS and not name.startswith("sqlite_") and sql is not None
    }


def _is_shadow(name: str, virtual: Iterable[str]) -> bool:
    return any(name.startswith(f"{other}_") for other in virtual)


def _compare_table(
    place: str, table: str, item: Item, connections: tuple[sqlite3.Connection, sqlite3.Connection]
) -> Iterator[StateDifference]:
    if item.sql is not None and item.sql.upper().startswith("CREATE VIRTUAL"):
        return
    sides = [Side(one, table, stored_columns(one, table)) for one in connections]
    changes = compare_rows(*sides)
    if not item.is_real:
        if any(changes):
            owner = table.rpartition("_")[0]
            yield StateDifference("sqlite", "modified", place, f"rows/{owner}", "content of a virtual table changed")
        return
    if changes.removed:
        yield _rows("deleted", place, table, "removed", changes.removed)
    if changes.added:
        yield _rows("created", place, table, "added", changes.added)
    if changes.changed:
        yield _rows("modified", place, table, "changed", changes.changed)


def _rows(operation: Operation, place: str, table: str, verb: str, keys: Sequence[Key]) -> StateDifference:
    return StateDifference(
        "sqlite", operation, place, f"rows/{table}", f"rows {verb}", amount=len(keys), samples=sample(keys)
    )
