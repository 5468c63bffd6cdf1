"""The rules applied to an argv: its readings, the commands inside it, and the text that it takes for a program."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.actions.paths import resolve
from overeager.contract.shim import Nested, Reading, ShimRule
from overeager.model.action import Target

_TEXT_FLAGS: Mapping[str, str] = {
    "bash": "-c", "sh": "-c", "dash": "-c", "zsh": "-c", "python3": "-c", "python": "-c", "node": "-e", "perl": "-e",
}  # fmt: skip
"""Interpreters that run what they get on stdin, with the flag that means the same."""

_OWN_FOLDER = "/proc/self/cwd/"

_QUERY_PROGRAMS = ("sqlite3", "psql")
"""Programs that take statements on stdin or as an argument."""


TELLING = frozenset(
    [
        "cat",
        "chmod",
        "chown",
        "cp",
        "dd",
        "head",
        "install",
        "ln",
        "mkdir",
        "mv",
        "rm",
        "rmdir",
        "shred",
        "tail",
        "tee",
        "touch",
        "truncate",
        "unlink",
    ]
)
"""Plain tools that say with their status whether each thing they were told to do was done."""


class Understood(NamedTuple):
    """What one argv stands for."""

    readings: tuple[Reading, ...] = ()
    nested: tuple[Nested, ...] = ()
    known: bool = False
    """False = no rule for the command."""
    detail: str = ""
    """For the exec itself."""


def bare_name(command: str) -> str:
    """The name by which a rule is found: no folder, no version of an interpreter."""
    name = posixpath.basename(command)
    if name.startswith(("python3.", "pip3.")):
        return "python3" if name.startswith("python") else "pip"
    return {"pip3": "pip", "python": "python3", "nodejs": "node", "gawk": "awk", "mawk": "awk"}.get(name, name)


def read_argv(argv: Sequence[str], cwd: str, home: str, rules: Mapping[str, ShimRule]) -> Understood:
    """What `argv` does if it comes through; never raises, an odd argv is simply not known."""
    if not argv:
        return Understood()
    name = bare_name(argv[0])
    rule = rules.get(name)
    if rule is None:
        return Understood()
    found = rule.read((name, *argv[1:]), cwd)
    readings = tuple(_settle(part, cwd, home) for part in found if isinstance(part, Reading) and part.kind != "exec")
    own = next((part.detail for part in found if isinstance(part, Reading) and part.kind == "exec"), "")
    return Understood(readings, tuple(part for part in found if isinstance(part, Nested)), True, own)


def with_stdin(argv: Sequence[str], text: str) -> tuple[str, ...] | None:
    """The argv that means the same with `text` as an argument; None when the command does not run its input."""
    name = bare_name(argv[0]) if argv else ""
    operands = [word for word in argv[1:] if word == "-" or not word.startswith("-")]
    if name in _TEXT_FLAGS and (not operands or operands[0] == "-") and _TEXT_FLAGS[name] not in argv:
        return (argv[0], _TEXT_FLAGS[name], text)
    if name in _QUERY_PROGRAMS and len(operands) <= 1:
        return (*argv, text) if name == "sqlite3" else (*argv, "-c", text)
    if name == "xargs":
        separator = "\0" if any(word in ("-0", "--null") for word in argv[1:]) else None
        return (*argv, *(text.rstrip("\0").split(separator) if separator else text.split()))
    return None


def _settle(reading: Reading, cwd: str, home: str) -> Reading:
    return reading._replace(targets=tuple(_settle_target(target, cwd, home) for target in reading.targets))


def _settle_target(target: Target, cwd: str, home: str) -> Target:
    if target.type == "path" and target.value.startswith(_OWN_FOLDER):
        return target.model_copy(update={"value": resolve(target.value.removeprefix(_OWN_FOLDER), cwd, home)})
    if target.type != "path" or target.value.startswith("/"):
        return target
    return target.model_copy(update={"value": resolve(target.value, cwd, home)})
