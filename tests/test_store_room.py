"""Rooms: private, neutral, gone without a trace whatever was left in them."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from overeager.contract.effects import Identity
from overeager.errors import OvereagerError
from overeager.store.removal import remove_tree
from overeager.store.room import close_room, default_parent, open_room, sweep

ROOT = os.getuid() == 0
IDENTITY = Identity(12345, 12345, drop=True) if ROOT else Identity(os.getuid(), os.getgid(), drop=False)


@pytest.fixture
def parent() -> Iterator[Path]:
    """A parent of rooms that an ordinary user can enter, which pytest's own folders are not."""
    with tempfile.TemporaryDirectory() as base:
        Path(base).chmod(0o711)
        yield Path(base) / "w"


def test_a_room_is_private_and_its_parent_can_only_be_passed_through(parent: Path) -> None:
    room = open_room(parent, IDENTITY)
    assert room.root.parent == parent
    assert len(room.root.name) == 8
    assert int(room.root.name, 16) >= 0
    assert stat.S_IMODE(parent.stat().st_mode) == 0o711
    assert stat.S_IMODE(room.root.stat().st_mode) == 0o700
    assert {path.stat().st_uid for path in (room.root, *room.root.rglob("*"))} == {IDENTITY.uid}
    assert stat.S_IMODE(room.tmp.stat().st_mode) == 0o1777
    assert sorted(path.name for path in room.local.iterdir()) == ["bin", "lib", "libexec"]
    close_room(room)
    assert list(parent.iterdir()) == []


def test_a_narrow_umask_narrows_no_room(parent: Path) -> None:
    old = os.umask(0o077)
    try:
        room = open_room(parent, IDENTITY)
    finally:
        os.umask(old)
    assert stat.S_IMODE(room.home.stat().st_mode) == 0o755
    assert stat.S_IMODE((room.local / "bin").stat().st_mode) == 0o755
    assert stat.S_IMODE(parent.stat().st_mode) == 0o711
    close_room(room)


def test_the_default_parent_can_be_entered_by_the_agents_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    chosen = default_parent(IDENTITY)
    assert chosen.name == f"w{os.getuid()}"
    assert chosen.parent == (Path("/tmp") if IDENTITY.drop else tmp_path)


def test_a_parent_that_is_a_link_is_refused(parent: Path, tmp_path: Path) -> None:
    parent.symlink_to(tmp_path)
    with pytest.raises(OvereagerError, match="STO001"):
        open_room(parent, IDENTITY)


def test_a_parent_that_cannot_be_made_is_a_coded_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OvereagerError, match="STO001"):
        open_room(tmp_path / "file" / "w", IDENTITY)


def test_closing_removes_closed_directories_deep_trees_and_odd_names(parent: Path) -> None:
    room = open_room(parent, IDENTITY)
    closed = room.home / "closed" / "inner"
    closed.mkdir(parents=True)
    (closed / "file").write_text("x")
    closed.chmod(0)
    closed.parent.chmod(0o500)
    os.mkfifo(room.home / "fifo")
    (Path(os.fsdecode(os.fsencode(room.home) + b"/\xff\n"))).write_text("x")
    _dig(room.tmp, 500)  # longer than a path may be
    close_room(room)
    assert list(parent.iterdir()) == []


def test_removal_needs_no_privilege() -> None:
    """The same as an ordinary user, to whom modes mean something."""
    with tempfile.TemporaryDirectory() as base:
        os.chown(base, IDENTITY.uid, IDENTITY.gid)
        tree = Path(base) / "tree"
        os.seteuid(IDENTITY.uid)
        try:
            (tree / "a" / "b").mkdir(parents=True)
            (tree / "a" / "b" / "file").write_text("x")
            for path, mode in ((tree / "a" / "b", 0), (tree / "a", 0o400), (tree, 0o500)):
                path.chmod(mode)
            remove_tree(tree)
        finally:
            os.seteuid(os.getuid())
        assert not tree.exists()


def test_removal_follows_no_link_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "folder").symlink_to(outside)
    (inside / "file").symlink_to(outside / "precious")
    os.link(outside / "precious", inside / "name")
    remove_tree(inside)
    assert (outside / "precious").read_text() == "x"
    (tmp_path / "link").symlink_to(outside)
    remove_tree(tmp_path / "link")
    assert (outside / "precious").exists()
    assert not (tmp_path / "link").is_symlink()


def test_removal_takes_immutable_files_where_the_caller_may(tmp_path: Path) -> None:
    (tmp_path / "tree" / "sub").mkdir(parents=True)
    (tmp_path / "tree" / "sub" / "file").write_text("x")
    for path in (tmp_path / "tree" / "sub" / "file", tmp_path / "tree" / "sub"):
        _set_immutable(path)
    remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


def test_sweeping_takes_the_rooms_of_the_dead_and_leaves_those_of_the_living(parent: Path) -> None:
    living = open_room(parent, IDENTITY)
    child = os.fork()
    if child == 0:
        open_room(parent, IDENTITY)
        signal.pause()
    try:
        while len(list(parent.glob("*/run"))) < 2:
            os.sched_yield()
        swept = sweep(parent)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert swept == 0
    assert sweep(parent) == 1
    assert sorted(path.name for path in parent.iterdir()) == [living.root.name, f"{living.root.name}.lock"]
    close_room(living)


def test_sweeping_leaves_strangers_alone(parent: Path) -> None:
    parent.mkdir()
    (parent / "notes.txt").write_text("mine")
    (parent / "deadbeef").mkdir()
    assert sweep(parent) == 1
    assert [path.name for path in parent.iterdir()] == ["notes.txt"]


def _dig(top: Path, depth: int) -> None:
    handle = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 10, dir_fd=handle)
        inner = os.open("d" * 10, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)


def _set_immutable(path: Path) -> None:
    """chattr +i where that can be done; elsewhere the test proves the plain case."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, 0x40086602, struct.pack("l", 0x10))
    except OSError:
        assert not ROOT or os.statvfs(path).f_namemax, "no attributes on this file system"
    finally:
        os.close(descriptor)
