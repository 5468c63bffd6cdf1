"""Acts: the actions of all channels that are one doing, by tool call, process and target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from overeager.actions.attribute import argv_key, holds
from overeager.actions.group import Family, Group, family_of, is_open, known_by, lies_in_tree, tree_values_of, values_of
from overeager.actions.join_tools import join_replacements, join_tools
from overeager.actions.read import bare_name
from overeager.actions.seen import Seen
from overeager.model.action import Action

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


def join(
    agent: Sequence[Seen], others: Sequence[Seen], changes: Sequence[Seen], names: Mapping[str, Sequence[str]]
) -> list[Group]:
    """Groups in order of their first action: agent first, then what joins it, then what stands for itself.

    `names` gives the other names (hard links) of a file by each of its paths.
    """
    groups: dict[Key, Group] = {}
    for seen in (*agent, *others):
        key = _key(seen)
        groups.setdefault(key, Group([])).members.append(seen)
    joined = _join_trees(join_replacements(join_tools(_join_wholes(_join_open(_join_loose(list(groups.values())))))))
    return joined + _join_changes(joined, changes, names)


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
    called = action.channel == "net" and (action.kind not in ("fetch", "connect") or seen.life is None)
    if called or (not seen.derived and action.channel in ("agent", "speech")):
        # A call as a whole is one act; what its text stands for are others.
        return ("whole", *_scope(seen), action.kind, values_of(action), action.source.member, action.source.line)
    if family == "exec" and action.argv:
        return (*_scope(seen), family, argv_key(action.argv))
    if action.kind == "signal":
        return (*_scope(seen), action.kind, values_of(action), action.detail)
    return (*_scope(seen), family if family != "other" else action.kind, known_by(action))


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


def _join_open(groups: list[Group]) -> list[Group]:
    """A doing whose target the text leaves open is the first of its kind that its command is seen to do."""
    gone: set[int] = set()
    taken: set[int] = set()
    for group in groups:
        if group.family == "exec" or not all(seen.derived and is_open(seen.action) for seen in group.members):
            continue
        for other in groups:
            if id(other) not in taken and _is_seen_to_do(other, group):
                other.members.extend(group.members)
                taken.add(id(other))
                gone.add(id(group))
                break
    return [group for group in groups if id(group) not in gone]


def _is_seen_to_do(group: Group, wanted: Group) -> bool:
    seen, open_ = group.first, wanted.first
    if seen.channel not in ("shim", "kernel") or seen.tool_call is None or seen.tool_call != open_.tool_call:
        return False
    if group.family != wanted.family or (group.family == "other" and seen.kind != open_.kind):
        return False
    names = {bare_name(one.action.argv[0]) for one in group.members if one.action.argv}
    return not names or not open_.argv or bare_name(open_.argv[0]) in names


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


def _join_trees(groups: list[Group]) -> list[Group]:
    """What one process did file by file below a tree that its command names is one act with it."""
    trees: dict[tuple[str | None, Family], list[Group]] = {}
    for group in groups:
        action = group.first
        if group.family in ("read", "write", "delete", "mode", "look") and tree_values_of(action):
            trees.setdefault((action.tool_call, group.family), []).append(group)
    gone: set[int] = set()
    for group in groups:
        action = group.first
        if action.channel != "kernel" or tree_values_of(action):
            continue
        for owner in trees.get((action.tool_call, group.family), ()):
            if _same_doer(owner, group) and all(lies_in_tree(value, owner.first) for value in values_of(action)):
                owner.members.extend(group.members)
                gone.add(id(group))
                break
    return [group for group in groups if id(group) not in gone]


def _same_doer(owner: Group, group: Group) -> bool:
    """Within a call the call is enough; without one it must be the same process."""
    if group.first.tool_call is not None:
        return True
    lives = {seen.life for seen in owner.members if seen.life is not None}
    return any(seen.life in lives for seen in group.members)


def _join_changes(groups: Sequence[Group], changes: Iterable[Seen], names: Mapping[str, Sequence[str]]) -> list[Group]:
    """Each net difference joins every act that can have made it, perhaps by another name of the file.

    What nothing explains is an act itself.
    """
    alone: list[Group] = []
    exact, trees = _index(groups)
    for seen in changes:
        families = _EFFECTS.get(seen.action.detail, ())
        path = seen.action.targets[0].value
        ways = (path, *names.get(path, ()))
        owners = [group for way in ways for group in exact.get(way, ()) if _explains(group, families, way)]
        owners += [group for group in trees if group.family in families and lies_in_tree(path, group.first)]
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
        values = {v for s in group.members for v in values_of(s.action)}
        for value in sorted(values):
            exact.setdefault(value, []).append(group)
        if tree_values_of(group.first):
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
    if group.family not in families or lies_in_tree(path, group.first):
        return False
    if group.family == "move":
        return True
    return any(path in values_of(seen.action) for seen in group.members)
