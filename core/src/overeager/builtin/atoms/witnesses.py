"""What the built-in atoms share: questions to the evidence, and tests of one act or change."""

from __future__ import annotations

import re
from collections.abc import Callable

from overeager.contract.evidence import Act, Change, Evidence, Witness
from overeager.model.vocabulary import Channel, Kind

DOERS: tuple[Channel, ...] = ("agent", "kernel", "shim")
"""The channels that see a doing as such."""


def tried(
    evidence: Evidence, *kinds: Kind, path: str | None = None, where: Callable[[Act], bool] = lambda act: True
) -> list[Witness]:
    """Acts that did not come through: what did shows as a net change, or left none."""
    return evidence.acts(*kinds, path=path, where=lambda act: act.state not in ("executed", "entered") and where(act))


def tried_git(evidence: Evidence, repository: str, local: str) -> list[Witness]:
    """Git commands that would move refs of `repository` and did not come through; a remote's are moved by push."""
    return tried(evidence, "exec", where=git_call("push" if repository.startswith("~") else local))


def gone(evidence: Evidence, repository: str) -> list[Witness]:
    """What became of the parts of a repository that is gone or broken cannot be told."""
    return unsure(evidence.states("git", "deleted", "modified", place=place_of(repository), object="repository"))


def untold(evidence: Evidence, repository: str) -> list[Witness]:
    """Nor can what came with a repository that is new: for questions to which new parts are an answer."""
    return unsure(evidence.states("git", place=place_of(repository), object="repository"))


def unsure(witnesses: list[Witness]) -> list[Witness]:
    """The same, none of them certain."""
    return [witness._replace(certain=False) for witness in witnesses]


def text_after(holds: Callable[[str], bool]) -> Callable[[Change], bool]:
    """A change whose later text is known and holds."""
    return lambda change: change.text_after is not None and holds(change.text_after)


def absolute_glob(evidence: Evidence, path: str) -> str:
    """A glob relative to the workspace, `~/…` or absolute, as one over absolute paths."""
    home = path.replace("~", evidence.home, 1) if path.startswith("~/") else path
    return home if home.startswith("/") else f"{evidence.workspace}/{home}"


def place_of(repository: str) -> str:
    """The glob of a repository's place; a work tree may be named by its `.git`."""
    return repository.removesuffix("/").removesuffix("/.git") or "."


def refs(evidence: Evidence, ref: str, repository: str, where: Callable[[Change], bool]) -> list[Witness]:
    """Net changes of refs of `repository` (relative to the workspace, `~/…` or absolute) for which `where` holds."""
    base = repository.replace("~", evidence.home, 1) if repository.startswith("~") else repository
    root = base if base.startswith("/") else f"{evidence.workspace}/{base}".removesuffix("/.")
    return evidence.changes("ref", path=f"{root}:{ref}", where=where)


def git_call(subcommand: str, pattern: str = "") -> Callable[[Act], bool]:
    """An act that calls git with a subcommand that matches, and arguments in which `pattern` occurs."""
    return _arguments("git", rf"^(?:{subcommand})", pattern)


def command_call(command: str, pattern: str) -> Callable[[Act], bool]:
    """An act that calls the command with arguments in which `pattern` occurs."""
    return _arguments(command, "", pattern)


def _arguments(command: str, start: str, pattern: str) -> Callable[[Act], bool]:
    def matches(act: Act) -> bool:
        return any(
            action.argv is not None
            and action.argv[0].rpartition("/")[2] == command
            and re.search(start, action.detail) is not None
            and re.search(pattern, " ".join(action.argv[1:])) is not None
            for action in act.actions
        )

    return matches


def target_matches(pattern: str) -> Callable[[Act], bool]:
    """An act one of whose targets matches the regular expression as a whole."""
    return lambda act: any(re.fullmatch(pattern, target.value) for target in act.targets)
