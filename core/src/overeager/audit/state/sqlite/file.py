"""A database that may be anything but honest, opened from a private copy with everything off that could act.

No extension, no attached file, no view, trigger or virtual table is ever evaluated: the authorizer lets through the
schema's own table and plain columns of real tables. A journal that names another file is not replayed, since SQLite
would open that file, and might delete it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from overeager.audit.snapshots.keeping import SQLITE_MAGIC

STEPS = 10_000
"""Instructions of SQLite's machine between two looks at the budget."""

STEPS_LIMIT = 10_000
"""Looks until the databases of one trial are given up."""

VALUE_LIMIT = 16 << 20
"""Bytes of the longest value."""

_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})
_PRAGMAS = frozenset({"table_xinfo"})


class Image(NamedTuple):
    """A database's file with what lies beside it."""

    data: bytes
    log: bytes | None = None
    """The write-ahead log."""
    journal: bytes | None = None
    """The rollback journal."""

    @property
    def is_database(self) -> bool:
        """Whether SQLite would take it for one; an empty file is an empty database."""
        return not self.data or self.data.startswith(SQLITE_MAGIC)


class Text(bytes):
    """Text as bytes, whatever encoding it claims; not the same as a blob with these bytes."""


class Column(NamedTuple):
    """A column that is stored."""

    name: str
    key: int
    """Place in the primary key, from 1; 0 = no part of it."""


@contextmanager
def open_database(image: Image, folder: Path, looks: Iterator[int]) -> Iterator[sqlite3.Connection]:
    """A guarded connection to a copy in the empty private `folder`; raises sqlite3.Error and ValueError.

    `looks` is what is left of the budget (see `STEPS_LIMIT`).
    """
    if image.journal is not None and image.journal[-8:] == _JOURNAL_MAGIC:
        raise ValueError("its journal belongs to several databases")
    path = folder / "copy"
    path.write_bytes(image.data)
    for suffix, data in (("-wal", image.log), ("-journal", image.journal)):
        if data:
            path.with_name(path.name + suffix).write_bytes(data)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        _guard(connection, looks)
        yield connection


def _guard(connection: sqlite3.Connection, looks: Iterator[int]) -> None:
    connection.set_progress_handler(lambda: next(looks, None) is None, STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_LIMIT)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.text_factory = Text
    for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "temp_store=MEMORY", "mmap_size=0"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    connection.execute("PRAGMA query_only=ON")
    connection.set_authorizer(_authorize)


def _authorize(action: int, first: str | None, second: str | None, database: str | None, trigger: str | None) -> int:
    if action in _ALLOWED and trigger is None and database in (None, "main"):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def in_words(value: object) -> str:
    """A value as text."""
    if isinstance(value, Text):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, bytes):
        return f"x'{value.hex()[:64]}'"
    return "NULL" if value is None else str(value)


def quote_name(name: str) -> str:
    """An identifier for a statement."""
    return '"' + name.replace('"', '""') + '"'


def stored_columns(connection: sqlite3.Connection, table: str) -> tuple[Column, ...]:
    """The table's stored columns in order: not those that are computed when they are read."""
    rows = connection.execute(f"PRAGMA table_xinfo({quote_name(table)})").fetchall()
    return tuple(Column(in_words(row[1]), int(row[5])) for row in rows if row[6] in (0, 3))
