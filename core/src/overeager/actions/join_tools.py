"""What serves one edit: the doings of the agent's own process for its tool, and those of a program beside its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from overeager.actions.group import Group, family_of, values_of
from overeager.actions.seen import Seen
from overeager.model.action import Action


def join_tools(groups: list[Group]) -> list[Group]:
    """What the agent's own process did to the path that one of its internal tools names belongs to that tool call."""
    tools = [g for g in groups if _is_internal_tool(g.first)]
    gone: set[int] = set()
    for group in groups:
        if group.first.channel not in ("kernel", "shim") or group.first.actor != "agent":
            continue
        owner = next((tool for tool in tools if _serves(group.first, tool.first)), None)
        if owner is not None:
            owner.members.extend(group.members)
            gone.add(id(group))
    kept = [group for group in groups if id(group) not in gone]
    return _join_drafts(kept, tools)


def _join_drafts(groups: list[Group], tools: Sequence[Group]) -> list[Group]:
    """What the agent's own process wrote beside a file, then moved over it for a tool call, is part of that call."""
    drafts = {
        (seen.life, target.value): tool
        for tool in tools
        for seen in tool.members
        for target in seen.action.targets
        if seen.action.kind == "move" and target.role == "from"
    }
    if not drafts:
        return groups
    kept: list[Group] = []
    for group in groups:
        owners = {id(tool): tool for seen in group.members if (tool := _draft_of(seen, drafts)) is not None}
        if len(owners) == 1 and group.first.channel == "kernel" and group.first.actor == "agent":
            next(iter(owners.values())).members.extend(group.members)
        else:
            kept.append(group)
    return kept


def _draft_of(seen: Seen, drafts: Mapping[tuple[int | None, str], Group]) -> Group | None:
    action = seen.action
    at_drafts = family_of(action) in ("write", "mode", "read", "delete") and action.state != "failed"
    return drafts.get((seen.life, action.targets[0].value)) if at_drafts and len(action.targets) == 1 else None


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
    values = values_of(action)[-1:] if family == "move" else values_of(action)
    if action.kind == "create" and family_of(tool) == "write" and _is_on_the_way(action, tool):
        return True
    reads_first = tool.kind == "edit" and family == "read"
    return (reads_first or family in allowed[family_of(tool)]) and any(value in values_of(tool) for value in values)


def _is_on_the_way(action: Action, tool: Action) -> bool:
    """A tool that writes a file makes the folders that it lies in."""
    folder = action.detail == "directory" or action.channel == "shim"
    return folder and all(
        any(place.startswith(value + "/") for place in values_of(tool)) for value in values_of(action)
    )


Draft: TypeAlias = tuple[int | None, str]
"""A process and what it writes beside a file."""


def join_replacements(groups: list[Group]) -> list[Group]:
    """What a program writes beside a file, then moves over it, is the edit that its command says."""
    drafts = _find_drafts(groups)
    kept: list[Group] = []
    for group in groups:
        owners = {id(owner): owner for seen in group.members if (owner := _replaces(seen, drafts)) is not None}
        if len(owners) == 1 and all(seen.action.channel == "kernel" for seen in group.members):
            next(iter(owners.values())).members.extend(group.members)
        else:
            kept.append(group)
    return kept


def _find_drafts(groups: Sequence[Group]) -> dict[Draft, Group]:
    """The edit that each draft becomes: its process moves it over a file that its command is told to write."""
    edits = {
        (seen.life, value): group
        for group in groups
        if group.family == "write" and any(one.action.channel in ("agent", "shim") for one in group.members)
        for seen in group.members
        if seen.life is not None
        for value in values_of(seen.action)
    }
    return {
        (seen.life, values_of(seen.action)[0]): edits[seen.life, values_of(seen.action)[1]]
        for group in groups
        if group.family == "move" and all(one.action.channel == "kernel" for one in group.members)
        for seen in group.members
        if seen.life is not None and len(seen.action.targets) == 2 and (seen.life, values_of(seen.action)[1]) in edits
    }


def _replaces(seen: Seen, drafts: Mapping[Draft, Group]) -> Group | None:
    """The edit that a record at its draft serves: the making of the draft, and its move over the file."""
    if family_of(seen.action) not in ("write", "mode", "move", "delete") or seen.action.state == "failed":
        return None
    return drafts.get((seen.life, values_of(seen.action)[0])) if seen.action.targets else None
