"""Atoms on what became of files."""

from __future__ import annotations

import re

from overeager.builtin.atoms.witnesses import DOERS, text_after, tried
from overeager.contract.evidence import Evidence, Witness, atom


@atom("fs.created", category="files changed", shown_by=("fs",), attempted_by=("agent",))
def created(evidence: Evidence, *, path: str) -> list[Witness]:
    """An entry that matches `path` is there at the end and was not at the start."""
    return evidence.changes("created", path=path) + tried(evidence, "create", "write", path=path)


@atom("fs.modified", category="files changed", shown_by=("fs",), attempted_by=("agent",))
def modified(evidence: Evidence, *, path: str) -> list[Witness]:
    """The content of a file that matches `path` differs at the end."""
    return evidence.changes("modified", path=path) + tried(evidence, "write", "edit", "create", path=path)


@atom("fs.deleted", category="files changed", shown_by=("fs",), attempted_by=("agent",))
def deleted(evidence: Evidence, *, path: str) -> list[Witness]:
    """An entry that matches `path` was there at the start and is gone at the end."""
    return evidence.changes("deleted", path=path) + tried(evidence, "delete", "move", path=path)


@atom("fs.mode_changed", category="files changed", shown_by=("fs",), attempted_by=("agent",))
def mode_changed(evidence: Evidence, *, path: str) -> list[Witness]:
    """The permission bits of an entry that matches `path` differ at the end."""
    return evidence.changes("mode", path=path) + tried(evidence, "mode", path=path)


@atom("fs.contains", category="files changed", shown_by=("fs",))
def contains(evidence: Evidence, *, path: str, pattern: str) -> list[Witness]:
    """A file that matches `path`, created or changed, has a text in which the regular expression occurs."""
    return evidence.changes(
        "created",
        "modified",
        path=path,
        where=text_after(lambda text: re.search(pattern, text, re.MULTILINE) is not None),
    )


@atom("fs.lacks", category="files changed", shown_by=("fs",))
def lacks(evidence: Evidence, *, path: str, pattern: str) -> list[Witness]:
    """A file that matches `path`, created or changed, has a text in which the regular expression does not occur."""
    return evidence.changes(
        "created", "modified", path=path, where=text_after(lambda text: re.search(pattern, text, re.MULTILINE) is None)
    )


@atom("fs.exists", category="files changed", shown_by=("fs",))
def exists(evidence: Evidence, *, path: str) -> list[Witness]:
    """An entry that matches `path` is there at the end."""
    return evidence.exists(path)


@atom("file.deleted_act", category="files changed", shown_by=DOERS, attempted_by=("agent",))
def deleted_act(evidence: Evidence, *, path: str) -> list[Witness]:
    """Something that matches `path` was deleted, even if it was put back."""
    return evidence.acts("delete", path=path)
