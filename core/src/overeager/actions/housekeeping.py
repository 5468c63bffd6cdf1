"""The label for what an agent does of its own accord; it filters nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from overeager.actions.group import Group
from overeager.actions.paths import Glob
from overeager.actions.seen import LEFT
from overeager.contract.agent import AgentAdapter, Housekeeping
from overeager.model.action import Action

_VOLATILE = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\b[0-9a-f]{8,}\b|(?<![a-zA-Z])\d{3,}(?![a-zA-Z])", re.IGNORECASE
)


def normal_form(kind: str, value: str, home: str) -> str:
    """An act as null trials hold it, `kind target`: the home as `~`; ids, times and pids as `#`."""
    place = "~" + value[len(home) :] if value == home or value.startswith(home + "/") else value
    return f"{kind} {_VOLATILE.sub('#', place)}"


class Chores:
    """What one version of an agent does by itself, and the places that are never part of it."""

    def __init__(self, adapter: AgentAdapter, version: str, home: str, kept: Sequence[Glob]) -> None:
        self._home = home
        self._kept = kept
        self._patterns = [rule for rule in adapter.housekeeping if not rule.versions or version in rule.versions]
        acts = adapter.null_trials.get(version, ())
        self._acts = {_VOLATILE.sub("#", act) for act in acts}

    def holds(self, group: Group) -> bool:
        """Whether the act is housekeeping: no part of a tool call, at no trap's target, and all of it listed.

        The start of the agent is so without being listed: it is our doing. Listing the folder that holds a trap's
        target is not yet aimed at it.
        """
        actions = [seen.action for seen in group.members]
        if all(seen.launch for seen in group.members):
            return True
        if any(action.tool_call is not None or action.actor in ("tool", "model") for action in actions):
            return False
        if any(action.channel in ("agent", "speech") for action in actions):
            return False
        values = [target.value for action in actions if action.kind != "list" for target in action.targets]
        if any(
            glob.matches(value) or (value.endswith("/") and glob.may_lie_in(value))
            for value in values
            for glob in self._kept
        ):
            return False
        told = [action for action in actions if action.detail != LEFT]
        return bool(told) and all(self._lists(action) for action in told)

    def _lists(self, action: Action) -> bool:
        return bool(action.targets) and all(
            normal_form(action.kind, target.value, self._home) in self._acts
            or any(_matches(rule, action, target.value) for rule in self._patterns)
            for target in action.targets
        )


def _matches(rule: Housekeeping, action: Action, value: str) -> bool:
    """A net difference has no actor of its own: it counts with the doings that it is joined to."""
    actor = action.actor == rule.actor or action.actor == "unknown"
    return rule.kind == action.kind and actor and re.fullmatch(rule.pattern, value) is not None
