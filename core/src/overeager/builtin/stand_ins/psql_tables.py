"""Tables of a state as a database in memory, and back."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence

from overeager.builtin.stand_ins.psql_dialect import (
    ALLOWED,
    DROP,
    DROP_SCHEMA,
    NO_EFFECT,
    TAIL,
    TRUNCATE,
    VERB,
    Failure,
    explain,
    rewrite,
    tag_of,
)
from overeager.builtin.stand_ins.psql_output import Result
from overeager.builtin.stand_ins.words import objects, texts
from overeager.canonical import Json
from overeager.contract.stand_in import Attributes, State

_NOW = "2026-01-15 10:00:00"
_MOST_STEPS = 5_000_000
_MOST_LENGTH = 1_000_000
_MOST_ROWS = 20_000

_OWN = ("_tables", "_columns", "_pg_tables")
_DENIED = frozenset([sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA])


def prepare(state: State) -> State:
    """The state with each row an object of its own."""
    tables, rows = {}, {}
    for name, table in objects(state, "table").items():
        columns = texts(table, "columns")
        written = table.get("rows")
        tables[name] = {key: value for key, value in table.items() if key != "rows"}
        listed = [one for one in written if isinstance(one, list)] if isinstance(written, list) else []
        records = [dict(zip(map(column_name, columns), row, strict=False)) for row in listed]
        rows.update(_name_rows(name, records, _key_column(columns)))
    return {**state, "table": tables, "row": {**rows, **objects(state, "row")}} if tables else state


def column_name(column: str) -> str:
    """The name in a definition: `id integer primary key`."""
    return (column.split() or [""])[0].strip('"')


def _key_column(columns: Sequence[str]) -> str:
    keys = [column for column in columns if "primary key" in column.lower()]
    return column_name((keys or list(columns) or [""])[0])


def _name_rows(table: str, records: Sequence[Mapping[str, Json]], key: str) -> dict[str, Attributes]:
    found: dict[str, Attributes] = {}
    for number, record in enumerate(records, start=1):
        name = f"{table}/{record.get(key)}"
        found[name if name not in found and record.get(key) is not None else f"{table}/#{number}"] = dict(record)
    return found


class Session:
    """One connection to one database of a state; to be closed by `with`."""

    def __init__(self, state: State, database: str) -> None:
        self._state, self._database = state, database
        self.database = database
        self._open = sqlite3.connect(":memory:", isolation_level=None)
        self._open.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_LENGTH)
        self._open.create_function("now", 0, lambda: _NOW)
        self._open.create_function(
            "version", 0, lambda: "PostgreSQL 15.8 (Debian 15.8-0+deb12u1) on x86_64-pc-linux-gnu"
        )
        self._open.create_function("current_database", 0, lambda: database)
        self._open.create_function("current_user", 0, lambda: "user")
        self._load()
        self._schemas = {name: self._columns(name) for name in self._names("table")}
        self._open.execute("PRAGMA foreign_keys = ON")
        self._open.set_authorizer(_authorize)
        self._left = _MOST_STEPS
        self._open.set_progress_handler(self._tick, 1000)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _tick(self) -> bool:
        self._left -= 1000
        return self._left < 0

    def _load(self) -> None:
        """The tables that can be made; one whose definition is no SQL is not there."""
        prefix = f"{self._database}."
        for name, table in objects(self._state, "table").items():
            if name.startswith(prefix):
                own = name.removeprefix(prefix)
                columns = ", ".join(rewrite(column) for column in texts(table, "columns"))
                with contextlib.suppress(sqlite3.Error):
                    self._open.execute(f"CREATE TABLE {_quote(own)} ({columns})")
                    self._fill(own, f"{name}/")
        for kind in ("index", "view"):
            for name, one in objects(self._state, kind).items():
                if name.startswith(prefix) and isinstance(one.get("sql"), str):
                    with contextlib.suppress(sqlite3.Error):
                        self._open.execute(str(one["sql"]))
        self._open.executescript(
            "CREATE VIEW _tables AS SELECT 'public' AS table_schema, name AS table_name, 'BASE TABLE' AS table_type "
            "FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%';"
            "CREATE VIEW _pg_tables AS SELECT 'public' AS schemaname, name AS tablename, 'user' AS tableowner "
            "FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%';"
            "CREATE VIEW _columns AS SELECT 'public' AS table_schema, m.name AS table_name, c.name AS column_name, "
            "lower(c.type) AS data_type, c.cid + 1 AS ordinal_position "
            "FROM sqlite_master m JOIN pragma_table_info(m.name) c "
            "WHERE m.type = 'table';"
        )

    def _fill(self, table: str, prefix: str) -> None:
        for name, row in objects(self._state, "row").items():
            if name.startswith(prefix):
                names, marks = ", ".join(map(_quote, row)), ", ".join("?" * len(row))
                values = [
                    value if isinstance(value, int | float | str | None) else str(value) for value in row.values()
                ]
                self._open.execute(f"INSERT INTO {_quote(table)} ({names}) VALUES ({marks})", values)

    def _names(self, kind: str) -> tuple[str, ...]:
        found = self._open.execute("SELECT name FROM sqlite_master WHERE type = ? ORDER BY rowid", (kind,)).fetchall()
        return tuple(name for (name,) in found if name not in _OWN and not name.startswith("sqlite_"))

    def _columns(self, table: str) -> tuple[str, ...]:
        found = self._open.execute(f"PRAGMA table_info({_quote(table)})").fetchall()
        return tuple(
            f"{name} {kind}{' primary key' if key else ''}".strip().lower() for _, name, kind, _, _, key in found
        )

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables as they are now."""
        return self._names("table")

    def columns(self, table: str) -> tuple[str, ...]:
        """The definitions of a table's columns as they are now."""
        self._open.set_authorizer(None)
        try:
            return self._columns(table)
        finally:
            self._open.set_authorizer(_authorize)

    def execute(self, statement: str) -> Result:
        """What the statement gives; raises Failure."""
        rewritten = TAIL.sub("", rewrite(statement)).strip()
        if DROP_SCHEMA.fullmatch(rewritten):
            return self._drop_all()
        if match := TRUNCATE.fullmatch(rewritten):
            for name in match[1].split(","):
                self._run(f"DELETE FROM {name.strip()}")
            return Result(tag="TRUNCATE TABLE")
        if match := DROP.fullmatch(rewritten):
            for name in match[3].split(","):
                self._run(f"DROP {match[1]} {match[2] or ''}{name.strip()}")
            return Result(tag=f"DROP {match[1].upper()}")
        if match := NO_EFFECT.match(rewritten):
            return Result(tag=match[1].upper())
        return self._run(rewritten)

    def _drop_all(self) -> Result:
        for kind in ("view", "table"):
            for name in self._names(kind):
                self._run(f"DROP {kind} {_quote(name)}")
        return Result(tag="DROP SCHEMA")

    def _run(self, statement: str) -> Result:
        verb = VERB.match(statement)
        word = (verb[1] or verb[3] or "").lower() if verb else ""
        if word not in ALLOWED:
            raise Failure(f'syntax error at or near "{word or statement[:20]}"', known=False)
        try:
            before = self._open.total_changes
            cursor = self._open.execute(statement)
            columns = tuple(one[0] for one in cursor.description or ())
            rows = tuple(cursor.fetchmany(_MOST_ROWS)) if columns else ()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as fault:
            raise explain(str(fault)) from fault
        return Result(
            columns, rows, tag_of(word, (verb[2] or "").upper() if verb else "", self._open.total_changes - before)
        )

    def read_state(self) -> State:
        """The state that this connection leaves; what was not committed is gone."""
        if self._open.in_transaction:
            self._open.execute("ROLLBACK")
        self._open.set_authorizer(None)
        self._left = _MOST_STEPS
        prefix = f"{self._database}."
        kept = {
            kind: {name: one for name, one in objects(self._state, kind).items() if not name.startswith(prefix)}
            for kind in ("table", "row", "view", "index")
        }
        for table in self._names("table"):
            name = f"{prefix}{table}"
            known = objects(self._state, "table").get(name)
            same = known is not None and self._schemas.get(table) == self._columns(table)
            columns: Json = list(self._columns(table))
            kept["table"][name] = known if same and known is not None else {**(known or {}), "columns": columns}
            kept["row"].update(self._read_rows(table, name))
        for kind in ("view", "index"):
            for own in self._names(kind):
                (sql,) = self._open.execute("SELECT sql FROM sqlite_master WHERE name = ?", (own,)).fetchone()
                kept[kind][f"{prefix}{own}"] = objects(self._state, kind).get(f"{prefix}{own}", {"sql": sql})
        return {**self._state, **{kind: found for kind, found in kept.items() if found or kind in self._state}}

    def _read_rows(self, table: str, name: str) -> dict[str, Attributes]:
        cursor = self._open.execute(f"SELECT * FROM {_quote(table)}")
        names = [one[0] for one in cursor.description]
        records = [{key: _json(value) for key, value in zip(names, row, strict=True)} for row in cursor.fetchall()]
        declared = texts(objects(self._state, "table").get(name, {}), "columns") or self._columns(table)
        return _name_rows(name, records, _key_column(declared))


def open_session(state: State, database: str) -> Session:
    """A connection to the database."""
    return Session(state, database)


def _authorize(action: int, first: str | None, *_: object) -> int:
    """No other file, no setting; tables are read and changed."""
    harmless = action == sqlite3.SQLITE_PRAGMA and first == "table_info"
    return sqlite3.SQLITE_DENY if action in _DENIED and not harmless else sqlite3.SQLITE_OK


def _json(value: object) -> Json:
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, int | float | str | None) else str(value)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
