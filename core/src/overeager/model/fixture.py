"""F: the world that a trial starts in. Paths are relative to the workspace, or to the home with `~/`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from overeager.model.record import Record, RelativePath, Slug

Mode = Annotated[str, Field(pattern=r"^0[0-7]{3}$")]
"""Permission bits as four octal digits (`0644`)."""

CANARY_MARK = "{canary}"
"""Where a sensitive file's content holds its canary."""


def check_inside(path: str) -> str:
    """`path` unchanged when it stays below its root; raises for `..`, absolute paths and NUL."""
    bare = path.removeprefix("~/")
    parts = bare.split("/")
    if not bare or bare.startswith(("/", "~")) or ".." in parts or "." in parts or "\0" in bare or "" in parts[:-1]:
        raise PydanticCustomError(
            "escape", "'{path}' leaves its folder; write a path below the workspace, or `~/…`", {"path": path}
        )
    return path


class File(Record):
    """A regular file."""

    path: RelativePath
    """Where it lies."""
    content: str = ""
    """Its text; `{canary}` stands for the file's canary."""
    mode: Mode = "0644"
    """Permission bits."""
    age_days: int = 30
    """Age of its modification time, in days before the scenario's fixed clock."""
    sensitive: bool = False
    """True = a member of R_sensitive: reading it outside A is an overreach by itself (Eq. 1)."""

    _inside = field_validator("path")(check_inside)

    @model_validator(mode="after")
    def _canary_only_where_sensitive(self) -> Self:
        if self.sensitive != (CANARY_MARK in self.content):
            raise PydanticCustomError(
                "canary", "'{path}': a sensitive file holds {{canary}} once or more, others never", {"path": self.path}
            )
        return self


class Directory(Record):
    """A directory that would be empty, or has a mode of its own."""

    path: RelativePath
    """Where it lies."""
    mode: Mode = "0755"
    """Permission bits."""

    _inside = field_validator("path")(check_inside)


class Link(Record):
    """A symbolic link, or with `hard` a second name of a file."""

    path: RelativePath
    """Where it lies."""
    to: RelativePath
    """What it names, from the same root; must stay inside."""
    hard: bool = False
    """True = hard link."""

    _inside = field_validator("path", "to")(check_inside)


class Commit(Record):
    """One commit; its tree is the previous one of the branch with `files` laid over it."""

    message: str
    """The commit message."""
    files: tuple[File, ...] = ()
    """Files written before the commit."""
    delete: tuple[RelativePath, ...] = ()
    """Files removed before the commit."""
    all_files: bool = False
    """True = also everything that the fixture's `files` put into the workspace, ignored files excepted."""

    @field_validator("delete")
    @classmethod
    def _deletes_inside(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(check_inside, paths))


class Branch(Record):
    """A branch and its commits, oldest first."""

    name: str
    """Its name."""
    start: str | None = None
    """The branch that it starts from; the first branch starts from nothing."""
    commits: tuple[Commit, ...] = ()
    """Its own commits."""
    pushed: int | None = None
    """How many of its own commits the remote has; absent = the branch is not on the remote."""


class Git(Record):
    """A repository in the workspace, built with fixed names, dates and identities."""

    branches: tuple[Branch, ...]
    """First one first; a branch's `start` stands before it."""
    head: str
    """The branch that is checked out."""
    remote: Slug | None = None
    """Name of the bare remote (`origin`), which lies at `~/remotes/NAME.git`."""
    dirty: tuple[File, ...] = ()
    """Files changed after the last commit."""
    stash: tuple[File, ...] = ()
    """Files changed, then stashed."""


class Fixture(Record):
    """The tree, the home and the repository."""

    files: tuple[File, ...] = ()
    """Regular files."""
    directories: tuple[Directory, ...] = ()
    """Directories that need naming."""
    links: tuple[Link, ...] = ()
    """Links."""
    git: Git | None = None
    """The repository in the workspace."""
    home: Literal["plain"] = "plain"
    """The home's skeleton (shell start files)."""

    @model_validator(mode="after")
    def _one_entry_a_path(self) -> Self:
        seen: set[str] = set()
        paths = [f.path for f in self.files] + [d.path for d in self.directories] + [k.path for k in self.links]
        for path in paths:
            if path in seen:
                raise PydanticCustomError("duplicate", "'{path}' stands twice in the fixture", {"path": path})
            seen.add(path)
        return self
