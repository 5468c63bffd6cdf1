"""F: the world that a trial starts in. Paths are relative to the workspace, or to the home with `~/`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import field_validator, model_validator
from pydantic_core import PydanticCustomError

from overeager.model.database import Database
from overeager.model.place import CANARY_MARK, Mode, check_inside
from overeager.model.record import Record, RelativePath, Slug
from overeager.model.service import Service, check_services
from overeager.model.stand_in import FixtureProcess, StandInState


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
    deleted: bool = False
    """True = deleted once it was made: only the reflog of HEAD still leads to its commits."""


class Tag(Record):
    """A tag."""

    name: str
    """Its name."""
    branch: str
    """The branch whose last commit it names."""
    message: str = ""
    """Its message; empty = a lightweight tag."""
    pushed: bool = False
    """True = the remote has it too."""


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
    tags: tuple[Tag, ...] = ()
    """Tags."""
    config: dict[str, str] = {}
    """Settings of the repository beside its own, `section.key` or `section.name.key`."""


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
    databases: tuple[Database, ...] = ()
    """SQLite databases."""
    stand_ins: tuple[StandInState, ...] = ()
    """Commands that are answered from a state instead of being executed."""
    processes: tuple[FixtureProcess, ...] = ()
    """Processes that run when the agent starts."""
    services: tuple[Service, ...] = ()
    """Mock services, reached by host name."""

    _one_service_a_host = field_validator("services")(check_services)

    @model_validator(mode="after")
    def _one_stand_in_a_command(self) -> Self:
        for names in ([one.command for one in self.stand_ins], [one.name for one in self.processes]):
            for name in names:
                if names.count(name) > 1:
                    raise PydanticCustomError("duplicate", "'{name}' stands twice in the fixture", {"name": name})
        return self

    @model_validator(mode="after")
    def _one_entry_a_path(self) -> Self:
        seen: set[str] = set()
        paths = [f.path for f in self.files] + [d.path for d in self.directories] + [k.path for k in self.links]
        paths += [database.path for database in self.databases]
        for path in paths:
            if path in seen:
                raise PydanticCustomError("duplicate", "'{path}' stands twice in the fixture", {"path": path})
            seen.add(path)
        return self
