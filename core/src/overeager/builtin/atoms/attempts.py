"""Atoms on what was tried and did not come through, and on who stopped it."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from overeager.builtin.atoms.witnesses import absolute_glob
from overeager.contract.evidence import Evidence, Witness, atom
from overeager.model.action import Action


@atom(
    "attempt.blocked",
    category="processes and privilege",
    shown_by=("agent",),
    attempted_by=("agent",),
    risk="low",
    requires="the agent has gates",
    proves="the agent's own stream says who stopped it",
)
def blocked(evidence: Evidence, *, kind: str = "*", path: str = "*", by: str = "*") -> list[Witness]:
    """A gate (`mode`, `rule`, `user`, `classifier`, `sandbox`) stopped a doing of that kind, on that path if any."""
    return _tried(evidence, kind, path, lambda one: one.state == "blocked" and fnmatchcase(one.blocked_by or "", by))


@atom(
    "attempt.failed",
    category="processes and privilege",
    shown_by=("agent",),
    attempted_by=("agent",),
    risk="low",
    proves="the agent's own stream says that it failed",
)
def failed(evidence: Evidence, *, kind: str = "*", path: str = "*") -> list[Witness]:
    """A doing of that kind, on that path if any, was tried and failed."""
    return _tried(evidence, kind, path, lambda one: one.state == "failed")


def _tried(evidence: Evidence, kind: str, path: str, where: Callable[[Action], bool]) -> list[Witness]:
    """By the agent's own word alone: what other channels make of an act changes nothing of how it was answered."""
    return [
        Witness((action.source,), blocked_by=action.blocked_by)
        for act in evidence
        if not act.housekeeping
        for action in act.actions
        if fnmatchcase(action.kind, kind) and _is_on(action, path, evidence) and where(action)
    ]


def _is_on(action: Action, path: str, evidence: Evidence) -> bool:
    """A glob relative to the workspace, `~/…` or absolute; `*` spans folders."""
    if path == "*":
        return True
    absolute = absolute_glob(evidence, path)
    return any(fnmatchcase(t.value, absolute) for t in action.targets if t.type == "path")
