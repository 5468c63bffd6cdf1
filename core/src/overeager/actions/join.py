"""Acts: the actions of all channels that are one doing, by tool call, process and target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from overeager.actions.attribute import argv_key, holds
from overeager.actions.paths import below
from overeager.actions.read import bare_name
from overeager.actions.seen import Seen
from overeager.model.action import Action
from overeager.model.vocabulary import Kind

Family: TypeAlias = Literal["write", "read", "look", "delete", "move", "link", "mode", "exec", "other"]

_FAMILIES: Mapping[Kind, Family] = {
    "create": "write", "write": "write", "edit": "write", "read": "read", "list": "look", "search": "look",
    "delete": "delete", "move": "move", "link": "link", "mode": "mode", "exec": "exec",
}  # fmt: skip
"""Kinds that are one doing seen differently: only a channel that knows what was there can tell create from write."""

_EFFECTS: Mapping[str, tuple[Family, ...]] = {
    "created": ("write", "move", "link"),
    "modified": ("write", "move", "link"),
    "deleted": ("delete", "move"),
    "mode": ("mode", "write", "move"),
    "type": ("write", "move", "link", "delete"),
    "link": ("link", "write", "move"),
    "attributes": ("mode",),
}
"""By which doings a net difference can have come about."""

Key: TypeAlias = tuple[object, ...]


class Group(NamedTuple):
    """The actions of one act, in the order in which they came."""

    members: list[Seen]

    @property
    def first(self) -> Action:
        """The action that the act is named after: the agent's own word, else the first."""
        return next((seen.action for seen in self.members if seen.action.channel == "agent"), self.members[0].action)

    @property
    def family(self) -> Family:
        """Its kind of doing."""
        return family_of(self.first)


def family_of(action: Action) -> Family:
    """The kinds that can be one doing with this one."""
    return _FAMILIES.get(action.kind, "other")


def join(agent: Sequence[Seen], others: Sequence[Seen], changes: Sequence[Seen]) -> list[Group]:
    """Groups in order of their first action: agent first, then what joins it, then what stands for itself."""
    groups: dict[Key, Group] = {}
    for seen in (*agent, *others):
        key = _key(seen)
        groups.setdefault(key, Group([])).members.append(seen)
    joined = _join_trees(_join_tools(_join_wholes(_join_loose(list(groups.values())))))
    return joined + _join_changes(joined, changes)


def _scope(seen: Seen) -> Key:
    action = seen.action
    if action.tool_call is not None:
        return ("call", action.tool_call)
    if seen.life is not None:
        return ("life", seen.life)
    if action.process is not None:
        return ("process", action.process)
    return ("line", action.source.member, action.source.line)


def _key(seen: Seen) -> Key:
    action = seen.action
    family = family_of(action)
    if not seen.derived and action.channel in ("agent", "speech", "net"):
        # A call as a whole is one act; what its text stands for are others.
        return ("whole", *_scope(seen), action.kind, _values(action), action.source.member, action.source.line)
    if family == "exec" and action.argv:
        return (*_scope(seen), family, argv_key(action.argv))
    return (*_scope(seen), family if family != "other" else action.kind, _values(action))


def _values(action: Action) -> tuple[str, ...]:
    return tuple(target.value.rstrip("/") for target in action.targets)


def _join_loose(groups: list[Group]) -> list[Group]:
    """A command whose words are not all known takes the first program of its name that its call started."""
    waiting = [group for group in groups if all(seen.loose for seen in group.members)]
    gone: set[int] = set()
    for group in waiting:
        action = group.first
        for other in groups:
            if id(other) not in gone and _is_started(other, action):
                group.members.extend(other.members)
                gone.add(id(other))
                break
    return [group for group in groups if id(group) not in gone]


def _is_started(group: Group, action: Action) -> bool:
    return (
        group.family == "exec"
        and all(seen.action.channel in ("shim", "kernel") for seen in group.members)
        and group.first.tool_call == action.tool_call
        and group.first.argv is not None
        and action.argv is not None
        and bare_name(group.first.argv[0]) == bare_name(action.argv[0])
    )


def _join_wholes(groups: list[Group]) -> list[Group]:
    """A call that runs a text is one act with the shell that was told the text, and with a text's only command."""
    wholes = {g.first.tool_call: g for g in groups if _is_whole_call(g)}
    gone: set[int] = set()
    for group in groups:
        owner = wholes.get(group.first.tool_call)
        if owner is None or group is owner or group.family != "exec":
            continue
        text = owner.first.targets[0].value
        told = group.first.channel == "kernel" and any(holds(word, text) for word in (group.first.argv or ())[1:])
        if told or group.first.targets == (owner.first.targets[0],):
            owner.members.extend(group.members)
            gone.add(id(group))
    return [group for group in groups if id(group) not in gone]


def _is_whole_call(group: Group) -> bool:
    action = group.first
    whole = action.channel == "agent" and not group.members[0].derived and action.tool_call is not None
    return whole and action.kind == "exec" and len(action.targets) == 1


def _join_tools(groups: list[Group]) -> list[Group]:
    """What the agent's own process did to the path that one of its internal tools names belongs to that tool call."""
    tools = [g for g in groups if _is_internal_tool(g.first)]
    gone: set[int] = set()
    for group in groups:
        if group.first.channel != "kernel" or group.first.actor != "agent":
            continue
        owner = next((tool for tool in tools if _serves(group.first, tool.first)), None)
        if owner is not None:
            owner.members.extend(group.members)
            gone.add(id(group))
    return [group for group in groups if id(group) not in gone]


def _is_internal_tool(action: Action) -> bool:
    return action.channel == "agent" and action.tool_call is not None and family_of(action) in ("read", "write", "look")


def _serves(action: Action, tool: Action) -> bool:
    """An edit reads before it writes and may replace its file by a rename, but reading for a read is no write."""
    if tool.state in ("blocked", "attempted"):
        return False
    if action.time is not None and tool.time is not None and action.time < tool.time - 1:
        return False
    family = family_of(action)
    allowed = {"write": ("write", "move", "mode"), "read": ("read",), "look": ("look",)}
    values = _values(action)[-1:] if family == "move" else _values(action)
    return family in allowed[family_of(tool)] and any(value in _values(tool) for value in values)


def _join_trees(groups: list[Group]) -> list[Group]:
    """What one process did file by file below a tree that its command names is one act with it."""
    trees: dict[tuple[str | None, Family], list[Group]] = {}
    for group in groups:
        action = group.first
        if group.family in ("read", "write", "delete", "mode", "look") and _tree_values(action):
            trees.setdefault((action.tool_call, group.family), []).append(group)
    gone: set[int] = set()
    for group in groups:
        action = group.first
        if action.channel != "kernel" or _tree_values(action):
            continue
        for owner in trees.get((action.tool_call, group.family), ()):
            if _same_doer(owner, group) and all(_in_tree(value, owner.first) for value in _values(action)):
                owner.members.extend(group.members)
                gone.add(id(group))
                break
    return [group for group in groups if id(group) not in gone]


def _tree_values(action: Action) -> tuple[str, ...]:
    return tuple(target.value for target in action.targets if target.type == "path" and target.value.endswith("/"))


def _in_tree(path: str, action: Action) -> bool:
    return any(below(path, tree) for tree in _tree_values(action))


def _same_doer(owner: Group, group: Group) -> bool:
    """Within a call the call is enough; without one it must be the same process."""
    if group.first.tool_call is not None:
        return True
    lives = {seen.life for seen in owner.members if seen.life is not None}
    return any(seen.life in lives for seen in group.members)


def _join_changes(groups: Sequence[Group], changes: Iterable[Seen]) -> list[Group]:
    """Each net difference joins every act that can have made it; what nothing explains is an act itself."""
    alone: list[Group] = []
    exact, trees = _index(groups)
    for seen in changes:
        families = _EFFECTS.get(seen.action.detail, ())
        path = seen.action.targets[0].value
        owners = [group for group in exact.get(path, ()) if _explains(group, families, path)]
        owners += [group for group in trees if group.family in families and _in_tree(path, group.first)]
        for group in owners:
            group.members.append(seen)
        if not owners:
            alone.append(Group([seen]))
    return alone


def _index(groups: Sequence[Group]) -> tuple[dict[str, list[Group]], list[Group]]:
    exact: dict[str, list[Group]] = {}
    trees: list[Group] = []
    for group in groups:
        if not _can_have_done(group):
            continue
        values = {v for s in group.members for v in _values(s.action)}
        for value in sorted(values):
            exact.setdefault(value, []).append(group)
        if _tree_values(group.first):
            trees.append(group)
    return exact, trees


def _can_have_done(group: Group) -> bool:
    """Not what was stopped before it ran, nor a tool that says itself that it failed."""
    if group.family in ("read", "look", "exec", "other"):
        return False
    seen_elsewhere = any(seen.action.channel in ("shim", "kernel") for seen in group.members)
    if group.first.state in ("blocked", "attempted"):
        return seen_elsewhere
    return seen_elsewhere or not (group.first.state == "failed" and not group.members[0].derived)


def _explains(group: Group, families: Sequence[Family], path: str) -> bool:
    if group.family not in families or _in_tree(path, group.first):
        return False
    if group.family == "move":
        return True
    return any(path in _values(seen.action) for seen in group.members)
