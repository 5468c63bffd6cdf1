"""Repositories and databases that lie: nothing is obeyed, nothing outside is read, what cannot be told says so."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import struct
import subprocess
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from overeager.audit.snapshots import diff, snapshot
from overeager.audit.snapshots.snapshot import Snapshot
from overeager.audit.state.comparison import compare_state
from overeager.audit.state.git.config import read_config
from overeager.audit.state.git.index import read_index
from overeager.audit.state.git.pack import PackIndex, inflate, read_commit
from state_kit import DATABASE, HOME, PROJECT, changes, git, make_database, make_repository, told


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    make_repository(home)
    return home


@pytest.fixture
def database(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "project-x").mkdir(parents=True)
    rows = ", ".join(f"('{number}')" for number in range(300))
    path = home / "project-x" / "app.db"
    make_database(
        path, "CREATE TABLE orders(id INTEGER PRIMARY KEY, item TEXT)", f"INSERT INTO orders(item) VALUES {rows}"
    )
    return path


def put(path: Path, data: bytes) -> Callable[[], object]:
    return lambda: path.write_bytes(data)


def test_no_program_that_a_repository_names_is_run(home: Path) -> None:
    project, mark = home / "project-x", home / "ran"
    program = home / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)

    def act() -> None:
        for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "filter.x.clean", "diff.external", "gc.auto"):
            git(project, "config", key, str(program))
        (project / ".gitattributes").write_text("* filter=x\n")
        for name in ("post-index-change", "reference-transaction", "post-checkout"):
            shutil.copy(program, project / ".git/hooks" / name)

    lines = told(home, act)
    assert "config/core.fsmonitor: config set" in lines
    assert "hook/reference-transaction: hook created" in lines
    assert not mark.exists()


def test_what_a_repository_borrows_or_includes_from_elsewhere_is_not_read(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    make_repository(outside)
    elsewhere = outside / "project-x/.git"
    (elsewhere / "config").write_text("[leak]\n\tvalue = secret\n")

    def act() -> None:
        inner = home / "project-x/.git"
        (inner / "objects/info").mkdir(exist_ok=True)
        (inner / "objects/info/alternates").write_text(f"{elsewhere}/objects\n")
        with (inner / "config").open("a") as config:
            config.write(f"[include]\n\tpath = {elsewhere}/config\n")

    lines = told(home, act)
    assert lines == ["config/include.path: config set", "info/alternates: alternates changed"]


def test_links_in_place_of_a_repositorys_files_are_not_followed(home: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("[leak]\n\tvalue = secret\n")
    inner = home / "project-x/.git"

    def act() -> None:
        for name in ("config", "index", "logs/HEAD"):
            (inner / name).unlink()
            (inner / name).symlink_to(secret)

    found = changes(home, act)
    assert not any("leak" in one.object or "secret" in str(one) for one in found)
    assert {one.words for one in found} == {"config unset", "index entry removed", "reflog expired"}


def test_a_repository_that_becomes_a_link_is_gone(home: Path, tmp_path: Path) -> None:
    def act() -> None:
        shutil.move(home / "project-x/.git", tmp_path / "moved")
        (home / "project-x/.git").symlink_to(tmp_path / "moved")

    assert told(home, act) == ["repository: repository broken"]


@pytest.mark.parametrize(
    "index",
    [
        b"no index",
        b"DIRC" + struct.pack(">II", 2, 0xFFFFFFFF),
        b"DIRC" + struct.pack(">II", 2, 3) + b"\0" * 30,
        b"DIRC" + struct.pack(">II", 9, 0) + b"\0" * 20,
        b"DIRC" + struct.pack(">II", 2, 0) + b"link" + struct.pack(">I", 20) + b"\0" * 40,
    ],
    ids=["text", "countless", "cut", "unknown version", "split"],
)
def test_an_index_that_cannot_be_read_says_so(index: bytes, home: Path) -> None:
    (line,) = changes(home, put(home / "project-x/.git/index", index))
    assert (line.place, line.object) == (PROJECT, "*")
    assert line.error.startswith(f"{PROJECT}/.git/index: ")


def test_a_commit_that_cannot_be_unpacked_leaves_open_how_its_branch_moved(home: Path) -> None:
    project = home / "project-x"

    def act() -> None:
        git(project, "commit", "-q", "--allow-empty", "-m", "next")
        tip = git(project, "rev-parse", "HEAD")
        path = project / ".git/objects" / tip[:2] / tip[2:]
        path.chmod(0o644)
        path.write_bytes(b"broken")

    assert told(home, act) == ["branch/main: branch moved"]


def test_an_object_that_unpacks_without_end_is_cut(home: Path) -> None:
    bomb = zlib.compress(b"commit 9\0" + bytes(1 << 26))
    assert inflate(bomb, 1 << 20) is None
    project = home / "project-x"
    (project / ".git/objects/ab").mkdir()

    def act() -> None:
        (project / ".git/objects/ab" / ("c" * 38)).write_bytes(bomb)
        (project / ".git/refs/heads/main").write_text("ab" + "c" * 38 + "\n")

    assert told(home, act) == ["branch/main: branch moved"]


def test_commits_in_a_circle_end(home: Path) -> None:
    project = home / "project-x"
    first, second = "a" * 40, "b" * 40
    for commit, parent in ((first, second), (second, first)):
        body = f"tree {'0' * 40}\nparent {parent}\n\nx".encode()
        folder = project / ".git/objects" / commit[:2]
        folder.mkdir(exist_ok=True)
        (folder / commit[2:]).write_bytes(zlib.compress(b"commit %d\0" % len(body) + body))
    lines = told(home, lambda: (project / ".git/refs/heads/main").write_text(f"{first}\n"))
    assert lines == ["branch/main: branch rewritten (0)"]


def test_packs_and_indexes_that_were_tampered_with_are_refused_or_read_and_never_raise(home: Path) -> None:
    project = home / "project-x"
    git(project, "gc", "-q")
    tip = bytes.fromhex(git(project, "rev-parse", "HEAD"))
    (path,) = (project / ".git/objects/pack").glob("*.idx")
    contents, pack, index = (
        path.read_bytes(),
        path.with_suffix(".pack").read_bytes(),
        (project / ".git/index").read_bytes(),
    )
    body = subprocess.run(["git", "cat-file", "commit", "HEAD"], cwd=project, capture_output=True, check=True).stdout
    staged = read_index(index)
    assert read_tip(contents, pack, tip) == body
    chance = random.Random(1)
    outcomes = Counter[bool | None]()
    for _ in range(1500):
        hurt = [bytearray(data) for data in (contents, pack, index)]
        for data in hurt:
            for _ in range(chance.randint(1, 4)):
                data[chance.randrange(len(data))] = chance.randrange(256)
        read = read_tip(bytes(hurt[0]), bytes(hurt[1]), tip)
        outcomes[None if read is None else read == body] += 1
        with suppress(ValueError):
            read_index(bytes(hurt[2]))
        with suppress(ValueError):
            assert read_index(index[: chance.randrange(len(index))]) == staged, "cut behind its entries"
    assert outcomes[None] > 100
    assert outcomes[True] > 100
    assert outcomes[False] < 100  # another object, where the index was made to point to it


def read_tip(contents: bytes, pack: bytes, tip: bytes) -> bytes | None:
    """What a pack holds of `tip`, after every object of it was looked at."""
    try:
        index = PackIndex(contents)
    except ValueError:
        return None
    for object_id in index.ids():
        read_commit(pack, index, index.offset(object_id) or 0)
    offset = index.offset(tip)
    return None if offset is None else read_commit(pack, index, offset)


def test_settings_that_were_tampered_with_are_read_as_far_as_they_are_whole_or_refused() -> None:
    text = b'[core]\n\teditor = "a \\"b\\" # c" ; d\n[remote "or\\"igin"]\n\turl = x\\\n  y\n[a.b]\n\tc\n'
    assert read_config(text) == {
        "core.editor": ('a "b" # c',), 'remote.or"igin.url': ("x  y",), "a.b.c": ("true",)
    }  # fmt: skip
    whole = read_config(text)
    chance = random.Random(2)
    refused = 0
    for _ in range(3000):
        hurt = bytearray(text)
        hurt[chance.randrange(len(hurt))] = chance.choice(b'"\\\n[]=#;. \0\xffa')
        try:
            read = read_config(bytes(hurt))
        except ValueError:
            refused += 1
            continue
        assert all("." in name and values for name, values in read.items())
        assert set(read.items()) & set(whole.items()), "one byte hurts one or two of the three settings"
    assert 100 < refused < 2900


def test_settings_that_git_would_refuse_have_changed(home: Path) -> None:
    assert told(home, put(home / "project-x/.git/config", b"[core\n")) == ["config: config changed"]


def test_a_repository_that_its_owner_closed_is_read_all_the_same(home: Path) -> None:
    project = home / "project-x"
    before = snapshot.take({HOME: home})
    git(project, "branch", "-q", "-D", "dev")
    git(project, "rm", "-q", "--cached", "notes.txt")
    (project / ".git/index").chmod(0)
    (project / ".git/objects").chmod(0)
    try:
        found = state_between(before, home)
    finally:
        (project / ".git/objects").chmod(0o755)
    assert "index entry removed" in found
    assert not any("could not" in words for words in found)


def state_between(before: Snapshot, home: Path) -> list[str]:
    after = snapshot.take({HOME: home}, before)
    return [one.words for one in compare_state(before, after, diff.compare(before, after))]


def test_a_journal_that_names_a_file_of_the_host_neither_opens_nor_deletes_it(database: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"\0")
    name = str(victim).encode()
    size = 4096
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 1, 7, 2, 512, size)
    page = database.read_bytes()[:size]
    check = 7 + sum(page[at] for at in range(size - 200, 0, -200))
    record = struct.pack(">I", 1) + page + struct.pack(">I", check & 0xFFFFFFFF)
    tail = struct.pack(">I", 0x40000000 // size + 1) + name + struct.pack(">II", len(name), sum(name))
    journal = head.ljust(512, b"\0") + record + tail + bytes.fromhex("d9d505f920a163d7")
    lines = told(database.parent.parent, put(database.with_name("app.db-journal"), journal))
    assert lines == ["*: its journal belongs to several databases"]
    assert victim.exists()


def test_the_same_journal_would_have_deleted_it_had_sqlite_been_let(database: Path, tmp_path: Path) -> None:
    """What the test above guards against is real."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"\0")
    name = str(victim).encode()
    size = 4096
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 1, 7, 2, 512, size)
    page = database.read_bytes()[:size]
    check = 7 + sum(page[at] for at in range(size - 200, 0, -200))
    record = struct.pack(">I", 1) + page + struct.pack(">I", check & 0xFFFFFFFF)
    tail = struct.pack(">I", 0x40000000 // size + 1) + name + struct.pack(">II", len(name), sum(name))
    database.with_name("app.db-journal").write_bytes(
        head.ljust(512, b"\0") + record + tail + bytes.fromhex("d9d505f920a163d7")
    )
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("SELECT count(*) FROM orders").fetchall()
    assert not victim.exists()


def test_a_damaged_database_says_so_and_nothing_else_is_lost(database: Path) -> None:
    other = database.with_name("other.db")
    make_database(other, "CREATE TABLE t(a INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1)")

    def act() -> None:
        data = bytearray(database.read_bytes())
        data[4096:] = os.urandom(len(data) - 4096)
        database.write_bytes(data)
        make_database(other, "DELETE FROM t")

    found = changes(database.parent.parent, act)
    assert any(one.place == DATABASE and one.error for one in found)
    assert [one.words for one in found if one.place == f"{PROJECT}/other.db"] == ["rows removed"]


def test_databases_that_were_tampered_with_are_told_of_each_by_itself(database: Path) -> None:
    whole = database.read_bytes()
    chance = random.Random(3)
    unreadable = 0
    for _ in range(40):
        hurt = bytearray(whole)
        for _ in range(chance.randint(1, 30)):
            hurt[chance.randrange(16, len(hurt))] = chance.randrange(256)
        found = changes(database.parent.parent, put(database, bytes(hurt)))
        assert {one.place for one in found} <= {DATABASE}
        unreadable += any(one.error for one in found)
        database.write_bytes(whole)
    assert 0 < unreadable < 40


def test_no_expression_of_a_schema_is_evaluated(database: Path) -> None:
    endless = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n)"

    def act() -> None:
        make_database(
            database,
            f"CREATE VIEW spin AS SELECT {endless} AS i",
            "CREATE TABLE made(a INT, b AS (hex(zeroblob(a * 100000000))))",
            "INSERT INTO made VALUES (1)",
            "CREATE TRIGGER wipe AFTER DELETE ON orders BEGIN SELECT load_extension('x'); END",
        )

    assert told(database.parent.parent, act) == [
        "table/made: table created (1)",
        "trigger/wipe: trigger created",
        "view/spin: view created",
    ]


def test_a_schema_that_names_another_program_is_no_way_out(database: Path) -> None:
    def act() -> None:
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA writable_schema=ON")
            connection.execute(
                "INSERT INTO sqlite_master VALUES"
                " ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING csv(filename=/etc/passwd)')"
            )
            connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE orders(evil' WHERE name = 'orders'")
            connection.commit()

    (line,) = changes(database.parent.parent, act)
    assert "malformed" in line.error


def test_names_that_look_like_statements_are_names(database: Path) -> None:
    name = 'x"; DROP TABLE orders; --'
    quoted = '"' + name.replace('"', '""') + '"'
    lines = told(
        database.parent.parent,
        lambda: make_database(database, f"CREATE TABLE {quoted}(a)", f"INSERT INTO {quoted} VALUES (1)"),
    )
    assert lines == [f"table/{name}: table created (1)"]


def test_a_database_too_big_to_be_kept_says_so(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "HELD_BUDGET", 100)
    reason = [f"*: {DATABASE}: what it held at first was not kept"]
    assert told(database.parent.parent, lambda: make_database(database, "DELETE FROM orders")) == reason
    assert told(database.parent.parent, database.unlink) == reason
