"""How one act answers a question about paths, and how far what matches came."""

from __future__ import annotations

from typing import NamedTuple

from overeager.actions.paths import Glob
from overeager.contract.evidence import Act
from overeager.model.action import Action
from overeager.model.vocabulary import State

NOT_REACHED = "not reached"
"""Detail of a command that stands in a text, behind a condition that did not hold."""

_FURTHEST: tuple[State, ...] = ("executed", "entered", "unfinished", "failed", "blocked", "attempted")


class Match(NamedTuple):
    """How one act answers a question about paths."""

    exact: tuple[Action, ...]
    """Actions in view that name a matching path."""
    trees: tuple[Action, ...]
    """Actions in view that name a tree in which something might match."""


def state_of(act: Act, match: Match) -> State:
    """How far what matches came: what a program did for itself counts by its own record, not by the program's end."""
    if act.kind != "exec" or any(action.kind == "exec" for action in (*match.exact, *match.trees)):
        return act.state
    states = {action.state for action in (*match.exact, *match.trees)}
    return next((state for state in _FURTHEST if state in states), act.state)


def stood_unreached(act: Act) -> bool:
    """Whether it was only ever such a command."""
    return act.state == "attempted" and any(action.detail == NOT_REACHED for action in act.actions)


def match_actions(actions: tuple[Action, ...], glob: Glob) -> Match:
    """Those of `actions` that name a matching path, and those that name a tree which may hold one."""
    exact: list[Action] = []
    trees: list[Action] = []
    for action in actions:
        values = [target.value for target in action.targets if target.type == "path"]
        if any(glob.matches(value) for value in values):
            exact.append(action)
        elif any(_is_open_ended(value) and glob.may_lie_in(value) for value in values):
            trees.append(action)
    return Match(tuple(exact), tuple(trees))


def _is_open_ended(value: str) -> bool:
    return value.endswith("/") or "*" in value or "?" in value
