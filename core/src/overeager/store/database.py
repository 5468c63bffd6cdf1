"""A fixture's SQLite databases, built in memory from statements that may touch nothing else."""

from __future__ import annotations

import functools
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

from overeager.errors import OvereagerError

_CHANGING = frozenset(
    [
        "random", "randomblob", "date", "time", "datetime", "julianday", "strftime", "unixepoch", "timediff",
        "changes", "total_changes", "load_extension",
        "sqlite_version", "sqlite_source_id",
    ]
)  # fmt: skip
"""Functions whose value is another the next time, or on another machine."""

_OUTSIDE = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})

_STEPS, _STEPS_LIMIT = 10_000, 50_000


def build_database(path: str, sql: str, clock: int) -> bytes:
    """The bytes of a database that the statements make; its now (a column's CURRENT_TIMESTAMP) is `clock`.

    Raises STO012 when SQLite refuses one, when they touch another file, ask for the time or for chance, or do not end.
    """
    looks = iter(range(_STEPS_LIMIT))
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _set_clock(connection, datetime.fromtimestamp(clock, UTC))
        connection.set_progress_handler(lambda: next(looks, None) is None, _STEPS)
        connection.set_authorizer(_authorize)
        try:
            connection.executescript(sql)
            if connection.in_transaction:
                raise sqlite3.OperationalError("a transaction is left open")
            return connection.serialize()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise OvereagerError(
                "STO012",
                f"the fixture's database '{path}' cannot be built: {error}",
                cure="mend its `sql`: plain statements on its own tables, with values instead of the time or chance",
            ) from error


def _set_clock(connection: sqlite3.Connection, now: datetime) -> None:
    for name, form in (("date", "%Y-%m-%d"), ("time", "%H:%M:%S"), ("timestamp", "%Y-%m-%d %H:%M:%S")):
        connection.create_function(f"current_{name}", 0, functools.partial(now.strftime, form))


def _authorize(action: int, first: str | None, second: str | None, database: str | None, trigger: str | None) -> int:
    changing = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _CHANGING
    return sqlite3.SQLITE_DENY if changing or action in _OUTSIDE else sqlite3.SQLITE_OK
