"""Snapshots and their differences: every net change is told, nothing is told where we were blind."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from overeager.audit.snapshots import diff, snapshot
from overeager.audit.snapshots.snapshot import Snapshot

HOME = "/home/user"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    root = tmp_path / "home"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("alpha\n")
    (root / "b.txt").write_text("beta\n")
    (root / "sub" / "c.txt").write_text("gamma\n")
    (root / "link").symlink_to("a.txt")
    (root / "empty").mkdir()
    return root


def take(home: Path, previous: Snapshot | None = None) -> Snapshot:
    return snapshot.take({HOME: home}, previous)


def changes(home: Path, change: Callable[[Path], object]) -> list[dict[str, Any]]:
    """The lines of the diff that `change` makes; the same whether or not the second snapshot is incremental."""
    before = take(home)
    change(home)
    after = take(home, before)
    lines = diff.write(diff.compare(before, after))
    assert diff.write(diff.compare(before, take(home))) == lines
    assert snapshot.write(after) == snapshot.write(take(home))
    *rows, end = [json.loads(line) for line in lines.splitlines()]
    assert end == {"end": len(rows)}
    return rows


def told(home: Path, change: Callable[[Path], object]) -> list[tuple[str, str, Any, Any]]:
    return [
        (row["operation"], row["path"].removeprefix(f"{HOME}/"), row["before"], row["after"])
        for row in changes(home, change)
    ]


def sha(text: str) -> str:
    return subprocess.run(["sha256sum"], input=text, capture_output=True, text=True, check=True).stdout.split()[0]


def rewrite_with_old_time(home: Path) -> None:
    path = home / "a.txt"
    times = path.stat()
    path.write_text("ALPHA\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def replace_with_old_time(home: Path) -> None:
    path = home / "a.txt"
    times = path.stat()
    path.unlink()
    path.write_text("alpha\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def swap(home: Path) -> None:
    (home / "a.txt").rename(home / "x")
    (home / "b.txt").rename(home / "a.txt")
    (home / "x").rename(home / "b.txt")


def retarget(home: Path) -> None:
    (home / "link").unlink()
    (home / "link").symlink_to("/etc/passwd")


def become_folder(home: Path) -> None:
    (home / "a.txt").unlink()
    (home / "a.txt").mkdir()


ALPHA, BETA = sha("alpha\n"), sha("beta\n")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda home: None, []),
        (lambda home: (home / "a.txt").read_text(), []),
        (lambda home: (home / "a.txt").write_text("alpha\n"), []),
        (lambda home: (home / "a.txt").write_text("more\n"), [("modified", "a.txt", ALPHA, sha("more\n"))]),
        (rewrite_with_old_time, [("modified", "a.txt", ALPHA, sha("ALPHA\n"))]),
        (replace_with_old_time, []),
        (swap, [("modified", "a.txt", ALPHA, BETA), ("modified", "b.txt", BETA, ALPHA)]),
        (lambda home: (home / "a.txt").unlink(), [("deleted", "a.txt", ALPHA, None)]),
        (lambda home: (home / "new").write_text("alpha\n"), [("created", "new", None, ALPHA)]),
        (lambda home: (home / "a.txt").chmod(0o600), [("mode", "a.txt", "0644", "0600")]),
        (lambda home: (home / "sub").chmod(0o1755), [("mode", "sub", "0755", "1755")]),
        (retarget, [("link", "link", "a.txt", "/etc/passwd")]),
        (lambda home: (home / "empty").rmdir(), [("deleted", "empty", "0755", None)]),
        (lambda home: (home / "void").mkdir(), [("created", "void", None, "0755")]),
        (lambda home: (home / "name").hardlink_to(home / "a.txt"), [("created", "name", None, ALPHA)]),
        (become_folder, [("type", "a.txt", "file", "directory")]),
        (lambda home: os.mkfifo(home / "fifo", 0o644), [("created", "fifo", None, "0644")]),
        (
            lambda home: (home / "sub" / "c.txt").rename(home / "c.txt"),
            [("created", "c.txt", None, sha("gamma\n")), ("deleted", "sub/c.txt", sha("gamma\n"), None)],
        ),
    ],
)
def test_each_net_change_is_one_line(
    home: Path, change: Callable[[Path], object], expected: list[tuple[str, str, Any, Any]]
) -> None:
    old = os.umask(0o022)
    try:
        assert told(home, change) == expected
    finally:
        os.umask(old)


def test_an_extended_attribute_is_a_change(home: Path) -> None:
    rows = told(home, lambda root: os.setxattr(root / "a.txt", "user.note", b"1"))
    assert [(row[0], row[1], row[2]) for row in rows] == [("attributes", "a.txt", None)]
    rows = told(home, lambda root: os.setxattr(root / "a.txt", "user.note", b"2"))
    assert rows[0][2] != rows[0][3]
    rows = told(home, lambda root: os.removexattr(root / "a.txt", "user.note"))
    assert rows[0][3] is None


def test_texts_of_small_files_stand_in_the_diff(home: Path) -> None:
    (row,) = changes(home, lambda root: (root / "a.txt").write_text("neu: ü\n"))
    assert (row["text_before"], row["text_after"]) == ("alpha\n", "neu: ü\n")
    (row,) = changes(home, lambda root: (root / "b.txt").unlink())
    assert (row["text_before"], row["text_after"]) == ("beta\n", None)
    (row,) = changes(home, lambda root: (root / "copy").write_text("gamma\n"))
    assert row["text_after"] == "gamma\n"


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * (64 * 1024 + 1)])
def test_texts_of_other_files_do_not(home: Path, data: bytes) -> None:
    (row,) = changes(home, lambda root: (root / "blob").write_bytes(data))
    assert row["text_after"] is None


def test_entries_are_written_as_the_format_says(home: Path) -> None:
    os.utime(home / "a.txt", ns=(5, 1_768_471_200_000_000_123))
    (home / "a.txt").chmod(0o640)
    *rows, end = [json.loads(line) for line in snapshot.write(take(home)).splitlines()]
    assert [row["path"] for row in rows] == sorted(row["path"] for row in rows)
    assert end == {"end": len(rows)}
    assert rows[0]["path"] == HOME
    assert rows[1] == {
        "path": f"{HOME}/a.txt", "type": "file", "mode": "0640", "size": 6, "sha256": ALPHA,
        "mtime": 1_768_471_200_000_000_123, "links": 1, "target": None, "xattrs": None,
    }  # fmt: skip
    link = next(row for row in rows if row["type"] == "link")
    assert link["target"] == "a.txt"


def test_an_unchanged_file_is_not_read_again(home: Path) -> None:
    before = take(home)
    known = before.entries[f"{HOME}/a.txt"]._replace(sha256="f" * 64)
    after = take(home, before._replace(entries={**before.entries, known.path: known}))
    assert after.entries[known.path].sha256 == "f" * 64


def test_names_that_are_no_text_survive(home: Path) -> None:
    name = os.fsdecode(b"\xff\n\"'")
    (row,) = changes(home, lambda root: (root / name).write_text("x"))
    assert row["path"] == f"{HOME}/{name}"
    line = diff.write(diff.compare(take(home.parent / "none"), take(home))).splitlines()
    assert all(entry.decode("utf-8") for entry in line)


def test_big_files_are_hashed_like_small_ones(home: Path) -> None:
    for name in ("one", "two", "three"):
        (home / name).write_bytes(name.encode() * 800_000)
    taken = take(home)
    for name in ("one", "two", "three"):
        assert taken.entries[f"{HOME}/{name}"].sha256 == sha(name * 800_000)


def test_no_link_is_followed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("x")
    (home / "out").symlink_to(tmp_path / "outside")
    (home / "loop").symlink_to("loop")
    assert not [path for path in take(home).entries if "secret" in path]


def test_a_tree_that_is_too_deep_is_a_problem_and_claims_no_deletion(home: Path) -> None:
    (home / "deep").mkdir()
    before = take(home)
    handle = os.open(home / "deep", os.O_RDONLY)
    for _ in range(500):
        os.mkdir("d" * 10, dir_fd=handle)
        handle, outer = os.open("d" * 10, os.O_RDONLY, dir_fd=handle), handle
        os.close(outer)
    os.close(handle)
    after = take(home, before)
    assert [problem for problem in after.problems if "ENAMETOOLONG" in problem]
    assert {one.operation for one in diff.compare(before, after)} == {"created"}
    assert [row for row in snapshot.write(after).splitlines() if b'"error":"ENAMETOOLONG"' in row]


def test_where_a_snapshot_was_cut_nothing_counts_as_deleted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = take(home)
    (home / "a.txt").unlink()
    monkeypatch.setattr(snapshot, "ENTRY_LIMIT", 1)
    after = take(home, before)
    assert after.problems
    deleted = [one.path for one in diff.compare(before, after) if one.operation == "deleted"]
    assert deleted == [f"{HOME}/a.txt"]


def test_what_is_too_much_to_read_is_a_problem(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = take(home)
    (home / "sparse").touch()
    os.truncate(home / "sparse", 1 << 40)
    monkeypatch.setattr(snapshot, "HASH_BUDGET", 1 << 20)
    after = take(home, before)
    assert after.problems == (f"{HOME}/sparse: EFBIG",)
    assert [(one.operation, one.path) for one in diff.compare(before, after)] == [("created", f"{HOME}/sparse")]


def test_texts_that_have_no_room_are_a_problem(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "TEXT_BUDGET", 8)
    taken = take(home)
    assert list(taken.texts.values()) == ["alpha\n"]
    assert len(taken.problems) == 1


def test_a_root_that_is_gone_is_a_problem_not_a_deletion(home: Path, tmp_path: Path) -> None:
    before = take(home)
    after = take(tmp_path / "nothing", before)
    assert after.problems == (f"{HOME}: ENOENT",)
    assert diff.compare(before, after) == ()


@pytest.fixture
def ordinary_home() -> Iterator[Path]:
    """A folder of an ordinary user, who takes the snapshot as well."""
    uid = os.geteuid() or 12345
    with tempfile.TemporaryDirectory() as base:
        os.chown(base, uid, -1)
        os.seteuid(uid)
        try:
            yield Path(base)
        finally:
            os.seteuid(os.getuid())


def test_what_its_owner_has_closed_is_read_all_the_same_and_closed_again(ordinary_home: Path) -> None:
    (ordinary_home / "shut").mkdir()
    (ordinary_home / "shut" / "in").write_text("x")
    (ordinary_home / "key").write_text("y")
    before = take(ordinary_home)
    (ordinary_home / "shut" / "in").chmod(0)
    (ordinary_home / "shut").chmod(0)
    (ordinary_home / "key").chmod(0o200)
    after = take(ordinary_home, before)
    assert after.problems == ()
    assert after.entries[f"{HOME}/shut/in"].sha256 == sha("x")
    assert [(one.operation, one.after) for one in diff.compare(before, after)] == [
        ("mode", "0200"), ("mode", "0000"), ("mode", "0000"),
    ]  # fmt: skip
    assert (ordinary_home / "shut").stat().st_mode & 0o777 == 0
    assert (ordinary_home / "key").stat().st_mode & 0o777 == 0o200
    (ordinary_home / "shut").chmod(0o700)


def test_both_members_together_are_what_each_is_alone(home: Path) -> None:
    before = take(home)
    (home / "a.txt").write_text("changed\n")
    (home / "b.txt").unlink()
    (home / "new.txt").write_text("new\n")
    after = take(home, before)
    assert snapshot.write_both(before, after) == (snapshot.write(before), snapshot.write(after))
