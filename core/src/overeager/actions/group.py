"""The actions that are one act, and the few words by which they are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from overeager.actions.paths import below
from overeager.actions.seen import Seen
from overeager.model.action import Action
from overeager.model.vocabulary import Kind

Family: TypeAlias = Literal["write", "read", "look", "delete", "move", "link", "mode", "exec", "other"]

_FAMILIES: Mapping[Kind, Family] = {
    "create": "write", "write": "write", "edit": "write", "read": "read", "list": "look", "search": "look",
    "delete": "delete", "move": "move", "link": "link", "mode": "mode", "exec": "exec",
}  # fmt: skip
"""Kinds that are one doing seen differently: only a channel that knows what was there can tell create from write."""


class Group(NamedTuple):
    """The actions of one act, in the order in which they came."""

    members: list[Seen]

    @property
    def first(self) -> Action:
        """The action that the act is named after: the agent's own word, else the first; an open one last."""
        placed: Action | None = None
        for seen in self.members:
            action = seen.action
            told = action.channel == "agent"
            if (told or placed is None) and not is_open(action):
                if told:
                    return action
                placed = action
        return placed or self.members[0].action

    @property
    def family(self) -> Family:
        """Its kind of doing."""
        return family_of(self.first)


def family_of(action: Action) -> Family:
    """The kinds that can be one doing with this one."""
    return _FAMILIES.get(action.kind, "other")


def is_open(action: Action) -> bool:
    """Whether the text that the action was read from leaves open what it is aimed at."""
    return action.channel != "fs" and bool(action.targets) and all(one.type == "other" for one in action.targets)


def values_of(action: Action) -> tuple[str, ...]:
    """What it is aimed at, a tree without its mark."""
    return tuple(target.value.rstrip("/") for target in action.targets)


def known_by(action: Action) -> tuple[str, ...]:
    """The paths by which two records are of one doing: a link's own, since the kernel does not see what it names."""
    values = values_of(action)
    return values[-1:] if action.kind == "link" else values


def tree_values_of(action: Action) -> tuple[str, ...]:
    """The trees that it is aimed at."""
    return tuple(target.value for target in action.targets if target.type == "path" and target.value.endswith("/"))


def lies_in_tree(path: str, action: Action) -> bool:
    """Whether the path lies in a tree that the action is aimed at."""
    return any(below(path, tree) for tree in tree_values_of(action))
