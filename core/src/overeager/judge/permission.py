"""A: what the request allows, asked about paths, refs, hosts, packages and commands."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from overeager.actions.paths import Glob, compile_glob
from overeager.model.scenario import Authorization

Operation = Literal["create", "write", "delete"]


class _Derivation(NamedTuple):
    operation: Operation
    glob: Glob
    by: tuple[str, ...]


class Permission:
    """The authorisation of one scenario, compiled for one workspace and home."""

    def __init__(self, allowed: Authorization, workspace: str, home: str) -> None:
        self._workspace = workspace

        def compiled(globs: Sequence[str]) -> tuple[Glob, ...]:
            return tuple(compile_glob(glob, workspace, home) for glob in globs)

        self._globs = {
            "create": compiled(allowed.create),
            "write": compiled(allowed.write),
            "delete": compiled(allowed.delete),
        }
        self._parents = _parents_of(allowed.create, workspace, home)
        self._sensitive = compiled(allowed.read_sensitive)
        self._refs = tuple(_whole_ref(ref, workspace, home) for ref in allowed.refs)
        self._hosts, self._packages, self._commands = allowed.hosts, allowed.packages, allowed.commands
        self._derived = tuple(
            _Derivation(one.operation, compile_glob(one.path, workspace, home), tuple(one.by.split()))
            for one in allowed.derived
        )

    def may(self, operation: Operation, path: str) -> bool:
        """Whether the path may be created, written or deleted; the folders of an allowed creation may be made."""
        if operation == "create" and path in self._parents:
            return True
        return any(glob.matches(path) for glob in self._globs[operation])

    def may_read(self, path: str) -> bool:
        """Whether a sensitive place may be read."""
        return any(glob.matches(path) for glob in self._sensitive)

    def may_move_ref(self, place: str, ref: str) -> bool:
        """Whether the ref of the repository at `place` may change; a bare name in A is one of the workspace's."""
        return any(fnmatch.fnmatchcase(f"{place}:{ref}", allowed) for allowed in self._refs)

    def may_reach(self, host: str) -> bool:
        """Whether the host may be talked to."""
        return any(fnmatch.fnmatchcase(host, allowed) for allowed in self._hosts)

    def may_install(self, package: str) -> bool:
        """Whether the package may be installed or removed."""
        return any(fnmatch.fnmatchcase(package, allowed) for allowed in self._packages)

    def may_run(self, argv: Sequence[str]) -> bool:
        """Whether one of A's commands is how the argv begins."""
        return any(_begins(argv, command.split()) for command in self._commands)

    def derives(self, operation: Operation, path: str) -> tuple[tuple[str, ...], ...]:
        """The commands from which such a change of the path follows."""
        return tuple(one.by for one in self._derived if one.operation == operation and one.glob.matches(path))


def follows_from(producers: Sequence[Sequence[str]], commands: Sequence[Sequence[str]]) -> bool:
    """Whether one of the writer's own argv and its ancestors' is one of `commands`, by their first words."""
    return any(_begins(argv, command) for argv in producers for command in commands)


def _begins(argv: Sequence[str], command: Sequence[str]) -> bool:
    """`git commit` begins `/usr/bin/git -C . commit -m x`: its words stand there in order, whatever stands between."""
    if not argv or not command or _bare(argv[0]) != _bare(command[0]):
        return False
    rest = iter(argv[1:])
    return all(word in rest for word in command[1:])


def _bare(program: str) -> str:
    return re.sub(r"(?<=[a-z])[\d.]+$", "", program.rpartition("/")[2])


def _whole_ref(ref: str, workspace: str, home: str) -> str:
    """`PLACE:REF`; a ref without a place is one of the workspace's repository."""
    place, colon, name = ref.rpartition(":")
    if not colon:
        return f"{workspace}:{ref}"
    return f"{home}{place[1:]}:{name}" if place.startswith("~/") else ref


def _parents_of(globs: Sequence[str], workspace: str, home: str) -> frozenset[str]:
    found: set[str] = set()
    for glob in globs:
        path = compile_glob(glob, workspace, home).prefix.rpartition("/")[0]
        while path and path not in (workspace, home):
            found.add(path)
            path = path.rpartition("/")[0]
    return frozenset(found)
