"""What tests of state beyond files share: a home on disk, real git and SQLite, and what changed between two moments."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from overeager.audit.snapshots import diff, snapshot
from overeager.audit.state.comparison import compare_state
from overeager.audit.state.line import StateDifference

HOME = "/home/user"
PROJECT = f"{HOME}/project-x"
REMOTE = f"{HOME}/remotes/origin.git"
DATABASE = f"{PROJECT}/app.db"


def git(folder: Path, *arguments: str, fails: bool = False) -> str:
    """Run git as nobody in particular, with nothing of the machine's settings; returns what it says."""
    identity = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", **identity}
    command = ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert fails or done.returncode == 0, done.stderr
    return done.stdout.strip()


def make_repository(home: Path) -> Path:
    """A work tree with three commits on main, two branches, a tag, a bare remote and a stash."""
    project = home / "project-x"
    project.mkdir(parents=True)
    git(project, "init", "-q")
    for text in ("one", "two", "three"):
        (project / "notes.txt").write_text(f"{text}\n" * 20)
        git(project, "add", "-A")
        git(project, "commit", "-q", "-m", text)
    git(project, "branch", "dev")
    git(project, "checkout", "-q", "-b", "feat")
    (project / "f.txt").write_text("f\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "feat")
    git(project, "checkout", "-q", "main")
    git(project, "tag", "v1")
    (home / "remotes").mkdir()
    git(home, "clone", "-q", "--bare", str(project), "remotes/origin.git")
    git(project, "remote", "add", "origin", str(home / "remotes" / "origin.git"))
    git(project, "fetch", "-q")
    (project / "notes.txt").write_text("stashed\n")
    git(project, "stash", "-q")
    return project


def make_database(path: Path, *statements: str) -> None:
    """A database that the statements make or change."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def changes(home: Path, act: Callable[[], object]) -> list[StateDifference]:
    """The semantic differences that `act` makes in the home."""
    roots = {HOME: home}
    before = snapshot.take(roots)
    act()
    after = snapshot.take(roots, before)
    return list(compare_state(before, after, diff.compare(before, after)))


def told(home: Path, act: Callable[[], object]) -> list[str]:
    """The same as `object: words`, with the number where there is one, and the place where it is not the project."""
    return sorted(words_of(one) for one in changes(home, act))


def words_of(one: StateDifference) -> str:
    """One difference as a short text."""
    number = "" if one.amount is None else f" ({one.amount})"
    places = {PROJECT: "", DATABASE: "", REMOTE: "remote "}
    place = places.get(one.place, one.place.removeprefix(f"{HOME}/") + " ")
    return f"{place}{one.object}: {one.error or one.words}{number}"
