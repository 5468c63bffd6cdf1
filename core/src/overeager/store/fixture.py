"""Fixtures made real: built once, kept in the cache, laid into a room as often as there are trials."""

from __future__ import annotations

import hashlib
import os
import posixpath
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from overeager import canonical
from overeager.contract.effects import Identity, Room
from overeager.errors import OvereagerError
from overeager.model.fixture import File, Fixture
from overeager.model.place import CANARY_MARK
from overeager.model.scenario import Scenario
from overeager.model.stand_in import pids_of
from overeager.store.cache import Cache, publish
from overeager.store.git import Site, build_repository
from overeager.store.home import plain_home
from overeager.store.tree import Node, Tree, grow, lay, pack, unpack

CLOCK = 1_768_471_200
"""2026-01-15T10:00:00Z, in seconds since the epoch: the now of every scenario, from which ages count back."""

HOME = "/home/user"
"""Where the home is seen inside."""

CANARY_PREFIX = "0ddba11"
"""How every canary begins, so that a scanner that meets one knows it for a fake."""

_FORMAT = 1
"""Part of a template's key; to be raised when the same fixture is to become another tree."""


class World(NamedTuple):
    """What was laid, as seen inside."""

    workspace: str
    home: str
    canaries: Mapping[str, str]
    """Absolute path of each sensitive file to its canary; those that lie only in git's history too."""
    digest: str
    """SHA-256 of the whole tree: paths, bytes, modes, times, git objects."""


def canary(scenario_id: str, path: str) -> str:
    """The 24 hexadecimal digits in the sensitive file `path` (as the fixture writes it) of one scenario."""
    digits = hashlib.sha256(f"{scenario_id}\0{path}".encode()).hexdigest()
    return CANARY_PREFIX + digits[: 24 - len(CANARY_PREFIX)]


class Template(NamedTuple):
    """A scenario's whole home, to be laid as often as there are trials."""

    tree: Tree
    world: World


def open_template(scenario: Scenario, workspace_name: str, cache: Cache) -> Template:
    """The template of the scenario, from the cache or built; its workspace is `workspace_name` in the home.

    Raises STO006, STO010 and STO011 for a fixture that cannot be built.
    """
    packed = _packed_tree(scenario, workspace_name, cache)
    workspace = f"{HOME}/{workspace_name}"
    secrets = [file.path for file in _all_files(scenario.fixture) if file.sensitive]
    secrets += [database.path for database in scenario.fixture.databases if database.sensitive]
    canaries = {posixpath.join(HOME, _place(path, workspace_name)): canary(scenario.id, path) for path in secrets}
    world = World(workspace, HOME, dict(sorted(canaries.items())), canonical.sha256(packed))
    return Template(unpack(packed), world)


def lay_template(template: Template, room: Room, identity: Identity) -> None:
    """Lay the template into the room's home: equal in every trial, git's index included. Raises STO007."""
    _lay_home(template.tree, room.home, identity)
    os.utime(room.tmp, (CLOCK, CLOCK))


def materialise(scenario: Scenario, room: Room, identity: Identity, workspace_name: str, cache: Cache) -> World:
    """Lay the scenario's fixture into the room's home at once; raises what `open_template` and `lay_template` raise."""
    template = open_template(scenario, workspace_name, cache)
    lay_template(template, room, identity)
    return template.world


def add_files(home: Path, files: Mapping[str, str], identity: Identity) -> None:
    """Lay an agent's start files (text by path below the home) over the laid home, dated like it.

    A file that the fixture has at that path is written over. Raises STO006 for a path that leaves the home.
    """
    for path in files:
        if path.startswith("/") or ".." in path.split("/"):
            raise OvereagerError("STO006", f"'{path}' leaves the home", cure="name start files below the home")
        (home / path).unlink(missing_ok=True)
    nodes = {path: Node(path, "file", 0o644, CLOCK, text.encode()) for path, text in files.items()}
    _lay_home(tuple(_with_modes_of(home, node) for node in grow(nodes, 0o755, CLOCK)), home, identity)


def build_tree(scenario: Scenario, workspace_name: str, scratch: Path) -> Tree:
    """The whole home of a scenario, built from nothing; `scratch` is an empty folder for git."""
    fixture = scenario.fixture

    def content(file: File) -> bytes:
        return file.content.replace(CANARY_MARK, canary(scenario.id, file.path)).encode()

    def node(file: File) -> Node:
        path = _place(file.path, workspace_name)
        return Node(path, "file", int(file.mode, 8), CLOCK - file.age_days * 86400, content(file))

    nodes = plain_home(CLOCK)
    nodes[workspace_name] = Node(workspace_name, "directory", 0o755, CLOCK)
    files = {file.path: file for file in fixture.files}
    if fixture.git is not None:
        in_git = {path: file for path, file in files.items() if not path.startswith(("~/", ".git/"))}
        repository = build_repository(fixture.git, Site(scratch, HOME, CLOCK, in_git, content))
        nodes |= {inner.path: inner for inner in (_below(n, workspace_name) for n in repository.inner)}
        nodes |= {remote.path: remote for remote in repository.remote}
        files = {**repository.tracked, **files, **{file.path: file for file in fixture.git.dirty}}
    nodes |= {made.path: made for made in map(node, files.values())}
    nodes |= {made.path: made for made in _databases(scenario, workspace_name)}
    nodes |= {made.path: made for made in _directories_and_links(fixture, workspace_name)}
    nodes |= {made.path: made for made in _pid_files(fixture, workspace_name)}
    return grow(nodes, 0o755, CLOCK)


def template_key(scenario: Scenario, workspace_name: str) -> str:
    """Under which the cache keeps the packed tree of the scenario's template, in its folder `trees`."""
    return canonical.digest([_FORMAT, scenario.id, scenario.fixture.digest(), workspace_name])


def _packed_tree(scenario: Scenario, workspace_name: str, cache: Cache) -> bytes:
    """The packed tree from the cache; built when it is not there."""

    def make(path: Path) -> None:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as scratch:
            path.write_bytes(pack(build_tree(scenario, workspace_name, Path(scratch))))

    try:
        return publish(cache, "trees", template_key(scenario, workspace_name), make).read_bytes()
    except OvereagerError as error:
        where = error.where or f"scenario {scenario.id}"
        raise OvereagerError(error.code, error.what, where=where, cure=error.cure) from error


def _directories_and_links(fixture: Fixture, workspace_name: str) -> Iterator[Node]:
    for directory in fixture.directories:
        yield Node(_place(directory.path, workspace_name).rstrip("/"), "directory", int(directory.mode, 8), CLOCK)
    for link in fixture.links:
        path, target = _place(link.path, workspace_name), _place(link.to, workspace_name)
        if link.hard:
            yield Node(path, "name", 0, CLOCK, target=target)
        else:
            yield Node(path, "link", 0, CLOCK, target=posixpath.relpath(target, posixpath.dirname(path) or "."))


def _databases(scenario: Scenario, workspace_name: str) -> Iterator[Node]:
    """SQLite is loaded only where there is a database."""
    if not scenario.fixture.databases:
        return
    from overeager.store.database import build_database

    for one in scenario.fixture.databases:
        sql = one.sql.replace(CANARY_MARK, canary(scenario.id, one.path))
        time = CLOCK - one.age_days * 86400
        data = build_database(one.path, sql, CLOCK)
        yield Node(_place(one.path, workspace_name), "file", int(one.mode, 8), time, data)


def _pid_files(fixture: Fixture, workspace_name: str) -> Iterator[Node]:
    for name, pid in pids_of(fixture.processes).items():
        if any(process.pid_file for process in fixture.processes if process.name == name):
            path = f"{workspace_name}/run/{name}.pid"
            yield Node(path, "file", 0o644, CLOCK, f"{pid}\n".encode())


def _place(path: str, workspace_name: str) -> str:
    """A fixture's path as one below the home."""
    return path.removeprefix("~/") if path.startswith("~/") else f"{workspace_name}/{path}"


def _below(node: Node, folder: str) -> Node:
    return node._replace(path=f"{folder}/{node.path}")


def _all_files(fixture: Fixture) -> Iterator[File]:
    yield from fixture.files
    if fixture.git is not None:
        for branch in fixture.git.branches:
            for commit in branch.commits:
                yield from commit.files
        yield from fixture.git.dirty
        yield from fixture.git.stash


def _with_modes_of(home: Path, node: Node) -> Node:
    """`node`, with its mode if it is a directory that is there already."""
    place = home / node.path
    if node.type == "directory" and place.is_dir():
        return node._replace(mode=place.stat().st_mode & 0o7777)
    return node


def _lay_home(tree: Tree, home: Path, identity: Identity) -> None:
    try:
        lay(tree, home, identity)
    except OSError as error:
        raise OvereagerError(
            "STO007",
            f"the fixture cannot be written: {error.strerror} ({error.filename!r})",
            where=home,
            cure="free disk space there, or set TMPDIR to another folder",
        ) from error
