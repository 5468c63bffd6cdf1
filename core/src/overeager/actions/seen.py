"""One action with what the join needs beside it, and the small words by which actions are made."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from overeager.actions.read import TELLING, bare_name
from overeager.contract.shim import Reading
from overeager.model.action import Action, Pointer, Target
from overeager.model.vocabulary import State

MOST = 100_000
"""Actions that are read of one channel at most; whatever runs inside can make records without end."""


LEFT = "process left running"
"""Detail of an action that says that a process still ran when the agent left."""


class Seen(NamedTuple):
    """An action before it has its number and its place in an act."""

    action: Action
    life: int | None = None
    """Which process of the kernel channel (an index; pids come back)."""
    loose: bool = False
    """True = an argv whose words are not all known."""
    derived: bool = False
    """True = read out of a command text."""
    named: bool = False
    """True = an open of a path that is a word of the process's own argv."""
    swept: bool = False
    """True = a wildcard, find or xargs put the path among the words."""
    launch: bool = False
    """True = the start of the agent itself, which is no doing of its own."""


def command_target(argv: Sequence[str]) -> Target:
    """The target of an exec: its words as one text."""
    return Target(type="command", value=shlex.join(argv))


def make(source: Pointer, **fields: Any) -> Action:
    """An action that has no number yet."""
    return Action.model_construct(
        **{
            "sequence": 0, "time": None, "targets": (), "argv": None, "cwd": None, "actor": "unknown",
            "tool_call": None, "process": None, "session": None, "blocked_by": None, "exit_status": None,
            "detail": "", "result": "", "source": source, **fields,
        }
    )  # fmt: skip


def change(action: Action, **fields: Any) -> Action:
    """The action with some fields replaced."""
    return action.model_copy(update=fields)


def state_by_status(argv: Sequence[str], reading: Reading, readings: Sequence[Reading], status: int | None) -> State:
    """What an exit status proves of one reading of a program: sure readings happened at 0.

    Any other status proves a failure only for a plain tool that had one thing to do; a status that is not known,
    nothing.
    """
    if status is None or reading.kind in ("connect", "fetch"):
        return "executed" if status == 0 and reading.kind == "fetch" else "entered"
    if status == 0:
        return "executed" if reading.sure else "entered"
    alone = len(readings) == 1 and bool(argv) and bare_name(argv[0]) in TELLING
    return "failed" if alone and not _is_tree(reading) else "entered"


def _is_tree(reading: Reading) -> bool:
    return any(target.value.endswith("/") for target in reading.targets)
