"""What changed in a database, told by rows and schema, whatever it was changed with."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from overeager.audit.snapshots import snapshot
from state_kit import DATABASE, HOME, changes, make_database, told

TABLES = (
    "CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, active INT)",
    "INSERT INTO users(name, active) VALUES ('ann', 1), ('bob', 1), ('cid', 0), ('dan', 1)",
    "CREATE TABLE orders(id INTEGER PRIMARY KEY, item TEXT)",
    "INSERT INTO orders(item) VALUES ('a'), ('b'), ('c')",
    "CREATE TABLE log(line TEXT)",
    "INSERT INTO log VALUES ('x'), ('x'), ('y')",
    "CREATE TABLE pairs(a TEXT, b INT, c BLOB, PRIMARY KEY (a, b)) WITHOUT ROWID",
    "INSERT INTO pairs VALUES ('p', 1, x'00'), ('q', 2, NULL)",
    "CREATE INDEX by_name ON users(name)",
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "project-x").mkdir()
    make_database(tmp_path / "project-x" / "app.db", *TABLES)
    return tmp_path


def sql(*statements: str) -> Callable[[Path], None]:
    return lambda home: make_database(home / "project-x" / "app.db", *statements)


def vacuum(home: Path) -> None:
    with closing(sqlite3.connect(home / "project-x" / "app.db")) as connection:
        connection.execute("VACUUM")


CASES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "rows removed": (sql("DELETE FROM users"), ["rows/users: rows removed (4)"]),
    "rows added": (sql("INSERT INTO users(name) VALUES ('eve'), ('fay')"), ["rows/users: rows added (2)"]),
    "rows changed": (sql("UPDATE users SET active = 0"), ["rows/users: rows changed (3)"]),
    "a row replaced": (sql("INSERT OR REPLACE INTO users VALUES (1, 'mal', 1)"), ["rows/users: rows changed (1)"]),
    "a row put back": (
        sql("DELETE FROM orders WHERE id = 1", "INSERT INTO orders VALUES (1, 'a')"),
        [],
    ),
    "a row of two keys": (sql("UPDATE pairs SET c = x'01' WHERE a = 'p'"), ["rows/pairs: rows changed (1)"]),
    "a text that becomes a blob": (
        sql("UPDATE orders SET item = CAST('a' AS BLOB) WHERE id = 1"),
        ["rows/orders: rows changed (1)"],
    ),
    "a row without a key changed": (
        sql("UPDATE log SET line = 'z' WHERE line = 'y'"),
        ["rows/log: rows changed (1)"],
    ),
    "one of two equal rows removed": (sql("DELETE FROM log WHERE rowid = 1"), ["rows/log: rows removed (1)"]),
    "nothing but room": (vacuum, []),
    "rows without a key numbered anew": (
        lambda home: [sql("DELETE FROM log WHERE rowid = 1")(home), vacuum(home)],
        ["rows/log: rows removed (1)"],
    ),
    "the counter": (sql("PRAGMA user_version = 7"), []),
    "a table": (
        sql("CREATE TABLE audit(a)", "INSERT INTO audit VALUES (1)"),
        ["table/audit: table created (1)"],
    ),
    "a table dropped": (sql("DROP TABLE orders"), ["table/orders: table dropped (3)"]),
    "a column": (sql("ALTER TABLE users ADD COLUMN mail TEXT"), ["table/users: table changed"]),
    "a column dropped": (sql("ALTER TABLE users DROP COLUMN active"), ["table/users: table changed"]),
    "a table renamed and back": (
        sql("ALTER TABLE log RENAME TO log2", "ALTER TABLE log2 RENAME TO log"),
        ["table/log: table changed"],
    ),
    "an index": (sql("CREATE INDEX by_item ON orders(item)"), ["index/by_item: index created"]),
    "an index dropped": (sql("DROP INDEX by_name"), ["index/by_name: index dropped"]),
    "a trigger": (
        sql("CREATE TRIGGER wipe AFTER INSERT ON users BEGIN DELETE FROM orders; END"),
        ["trigger/wipe: trigger created"],
    ),
    "a view": (sql("CREATE VIEW actives AS SELECT * FROM users"), ["view/actives: view created"]),
    "the file emptied": (
        lambda home: (home / "project-x/app.db").write_bytes(b""),
        [
            "index/by_name: index dropped",
            "table/log: table dropped (3)",
            "table/orders: table dropped (3)",
            "table/pairs: table dropped (2)",
            "table/users: table dropped (4)",
        ],
    ),
    "the file overwritten": (
        lambda home: (home / "project-x/app.db").write_bytes(b"gone"),
        [
            "database: database overwritten",
            "index/by_name: index dropped",
            "table/log: table dropped (3)",
            "table/orders: table dropped (3)",
            "table/pairs: table dropped (2)",
            "table/users: table dropped (4)",
        ],
    ),
    "another database": (
        lambda home: make_database(home / "other.db", "CREATE TABLE t(a)"),
        ["other.db database: database created", "other.db table/t: table created (0)"],
    ),
    "looking": (
        lambda home: sqlite3.connect(home / "project-x/app.db").execute("SELECT * FROM users").connection.close(),
        [],
    ),
    "touching": (lambda home: os.utime(home / "project-x/app.db", (1, 1)), []),
}


@pytest.mark.parametrize("name", CASES)
def test_what_changed_in_a_database_is_told_by_rows_and_schema(name: str, home: Path) -> None:
    act, expected = CASES[name]
    assert told(home, lambda: act(home)) == expected


def test_a_deleted_database_tells_what_was_in_it(home: Path) -> None:
    lines = told(home, lambda: (home / "project-x/app.db").unlink())
    assert lines[0] == "database: database deleted"
    assert "table/users: table dropped (4)" in lines


def test_rows_that_only_the_log_knows_are_seen(home: Path) -> None:
    program = (
        "import os, sqlite3; c = sqlite3.connect('app.db'); c.execute('PRAGMA journal_mode=WAL');"
        "c.execute('DELETE FROM orders WHERE id < 3'); c.commit(); os._exit(0)"
    )
    lines = told(home, lambda: subprocess.run([sys.executable, "-c", program], cwd=home / "project-x", check=True))
    assert lines == ["rows/orders: rows removed (2)"]
    assert (home / "project-x/app.db-wal").stat().st_size > 0


def test_a_transaction_that_died_did_not_happen(home: Path) -> None:
    program = (
        "import os, sqlite3; c = sqlite3.connect('app.db'); c.execute('PRAGMA cache_size=1');"
        "c.execute('PRAGMA synchronous=FULL');"
        "c.execute('BEGIN'); c.execute('CREATE TABLE big(a)');"
        "c.executemany('INSERT INTO big VALUES (?)', [('x' * 4000,)] * 200);"
        "c.execute('DELETE FROM orders'); os._exit(0)"
    )
    lines = told(home, lambda: subprocess.run([sys.executable, "-c", program], cwd=home / "project-x", check=True))
    assert (home / "project-x/app.db-journal").stat().st_size > 0
    assert lines == []


def test_the_keys_of_some_rows_are_told(home: Path) -> None:
    (removed,) = changes(home, lambda: sql("DELETE FROM pairs WHERE a = 'q'")(home))
    assert (removed.system, removed.operation, removed.place, removed.amount) == ("sqlite", "deleted", DATABASE, 1)
    assert removed.samples == ("q, 2",)


def test_a_log_is_told_of_the_database_it_belongs_to(home: Path) -> None:
    make_database(home / "project-x/app.db", "PRAGMA journal_mode=WAL")
    connection = sqlite3.connect(home / "project-x/app.db")
    try:
        connection.execute("SELECT * FROM users").fetchall()
        before = snapshot.take({HOME: home})
        assert f"{DATABASE}-wal" in before.entries
        lines = told(home, lambda: connection.execute("DELETE FROM orders").connection.commit())
    finally:
        connection.close()
    assert lines == ["rows/orders: rows removed (3)"]


def test_a_virtual_table_is_not_evaluated_and_its_content_compared_as_a_whole(home: Path) -> None:
    make_database(home / "project-x/app.db", "CREATE VIRTUAL TABLE docs USING fts5(body)")
    lines = told(home, lambda: sql("INSERT INTO docs VALUES ('words')")(home))
    assert lines == ["rows/docs: content of a virtual table changed"]


def test_the_host_is_left_as_it_was(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    shutil.copy(home / "project-x/app.db", tmp_path_factory.mktemp("kept") / "app.db")
    changes(home, lambda: sql("DELETE FROM users")(home))
    assert sorted(path.name for path in (home / "project-x").iterdir()) == ["app.db"]
