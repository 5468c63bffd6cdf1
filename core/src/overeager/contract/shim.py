"""What the author of a shim set writes: for each command, how its argv reads as kinds and targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from overeager.contract.stand_in import StandIn
from overeager.model.action import Target
from overeager.model.vocabulary import Kind


class Reading(NamedTuple):
    """One doing that an argv stands for, if the command comes through."""

    kind: Kind
    targets: tuple[Target, ...]
    """Paths absolute, lexically normalised; a directory that is acted on as a tree ends in `/`."""
    detail: str = ""
    """For example a git subcommand with its flags (`push --force`)."""
    sure: bool = True
    """False = exit status 0 does not imply it (`rm -f` of what is not there, a branch of a script)."""


class Nested(NamedTuple):
    """A command inside a command (`env rm x`, `xargs rm`, `find -exec rm {} ;`, `bash -c '…'`)."""

    argv: tuple[str, ...] = ()
    """The inner argv, or"""
    text: str | None = None
    """shell text."""
    more_arguments: bool = False
    """True = further arguments come from elsewhere (stdin of xargs, files of find)."""
    cwd: str | None = None
    """Where it runs, when it is not the outer folder."""


Interpret: TypeAlias = Callable[[Sequence[str], str], "tuple[Reading | Nested, ...]"]
"""(argv, cwd) to readings. Pure; never raises on odd arguments; argv[0] is the command's bare name."""


class ShimRule(NamedTuple):
    """One command."""

    command: str
    """Bare name."""
    read: Interpret
    shimmed: bool = True
    """False = only a reading rule (a builtin, a command without a shim)."""
    examples: tuple[tuple[str, ...], ...] = ()
    """Calls that between them show every kind as which the command reads; `overeager atoms explain` tells by them which
    atoms it feeds."""


class ShimSet(NamedTuple):
    """A table of commands."""

    name: str
    rules: tuple[ShimRule, ...]
    stand_ins: tuple[StandIn, ...] = ()
    """Commands that a fixture may have stood in for. In such a trial the command's rule is not used."""
