"""Refs, read without git and told like any other net change."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from overeager.audit.snapshots import diff, snapshot
from overeager.audit.snapshots.snapshot import Snapshot

HOME = "/home/user"
PROJECT = f"{HOME}/project"
REMOTE = f"{HOME}/remotes/origin.git"


def git(folder: Path, *arguments: str) -> str:
    identity = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", **identity}
    command = ["git", "-c", "init.defaultBranch=main", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q")
    for text in ("one", "two"):
        (project / "file").write_text(text)
        git(project, "add", "file")
        git(project, "commit", "-q", "-m", text)
    git(project, "tag", "-a", "v1", "-m", "v1")
    git(tmp_path, "clone", "-q", "--bare", "project", "remotes/origin.git")
    git(project, "remote", "add", "origin", str(tmp_path / "remotes/origin.git"))
    return tmp_path


def take(home: Path) -> Snapshot:
    return snapshot.take({HOME: home})


def moved(before: Snapshot, after: Snapshot) -> list[tuple[str, str | None, str | None]]:
    return [(one.path, one.before, one.after) for one in diff.compare(before, after) if one.operation == "ref"]


def by_git(folder: Path) -> dict[str, str]:
    words = git(folder, "for-each-ref", "--format=%(refname) %(objectname)").split()
    return dict(zip(words[::2], words[1::2], strict=True))


def test_loose_and_packed_refs_are_those_that_git_tells(home: Path) -> None:
    for name, folder in ((PROJECT, home / "project"), (REMOTE, home / "remotes/origin.git")):
        expected = {f"{name}:{ref}": value for ref, value in by_git(folder).items()}
        expected[f"{name}:HEAD"] = "ref: refs/heads/main"
        assert {ref: value for ref, value in take(home).refs.items() if ref.startswith(f"{name}:")} == expected


def test_packing_refs_changes_nothing(home: Path) -> None:
    before = take(home)
    git(home / "project", "pack-refs", "--all")
    assert moved(before, take(home)) == []


def test_a_forced_push_is_a_moved_ref_in_the_remote(home: Path) -> None:
    before = take(home)
    old, new = git(home / "project", "rev-parse", "HEAD", "HEAD~1").split()
    git(home / "project", "push", "-q", "--force", "origin", "HEAD~1:main")
    assert (f"{REMOTE}:refs/heads/main", old, new) in moved(before, take(home))


def test_branches_stash_and_a_detached_head_are_refs(home: Path) -> None:
    before = take(home)
    project = home / "project"
    (project / "file").write_text("three")
    git(project, "stash")
    git(project, "branch", "topic/x")
    git(project, "tag", "-d", "v1")
    git(project, "checkout", "-q", "--detach")
    commit = git(project, "rev-parse", "HEAD")
    changes = {path.removeprefix(f"{PROJECT}:"): (old, new) for path, old, new in moved(before, take(home))}
    assert changes["HEAD"] == ("ref: refs/heads/main", commit)
    assert changes["refs/heads/topic/x"] == (None, commit)
    assert changes["refs/stash"][0] is None
    assert changes["refs/tags/v1"][1] is None


def test_a_deleted_repository_loses_its_refs(home: Path) -> None:
    before = take(home)
    subprocess.run(["rm", "-rf", str(home / "project/.git")], check=True)
    assert (f"{PROJECT}:HEAD", "ref: refs/heads/main", None) in moved(before, take(home))


def test_refs_that_are_no_refs_are_invalid_and_stop_nothing(home: Path) -> None:
    heads = home / "project/.git/refs/heads"
    (heads / "bad").write_bytes(b"\xff\x00" * 5000)
    (heads / "main.lock").write_text("")
    os.mkfifo(heads / "fifo")
    (home / "project/.git/packed-refs").write_bytes(b"# pack-refs\nrubbish\n^x\n\xff\xfe \xff\n")
    refs = take(home).refs
    assert refs[f"{PROJECT}:refs/heads/bad"] == "invalid"
    assert f"{PROJECT}:refs/heads/main.lock" not in refs
    assert f"{PROJECT}:refs/heads/fifo" not in refs


def test_a_reftable_is_a_problem_and_claims_no_deleted_ref(home: Path) -> None:
    before = take(home)
    (home / "project/.git/reftable").mkdir()
    (home / "project/.git/refs/heads/main").unlink()
    after = take(home)
    assert [problem for problem in after.problems if "reftable" in problem]
    assert moved(before, after) == []


def test_a_folder_that_only_looks_like_a_repository_has_no_refs(tmp_path: Path) -> None:
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n")
    assert take(tmp_path).refs == {}
