"""Semantic differences as acts, and who made them; what a program keeps for itself belongs to its own act.

A difference joins the act on the very file whose change it explains (`rm .git/refs/heads/x`, a program that writes a
database). Otherwise it is an act by itself, with the tool call of whoever touched the place: a git command may have
failed although something in its repository changed, so the change proves nothing of the command.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

from overeager.actions.fs import DIFF
from overeager.actions.fs_state import STATE
from overeager.actions.group import Family, Group
from overeager.actions.internals import Internals, footprint, touches
from overeager.actions.paths import below
from overeager.actions.processes import Processes
from overeager.actions.read import bare_name
from overeager.actions.seen import LEFT, Seen, change
from overeager.contract.evidence import StateChange
from overeager.model.action import Action

_CHANGING: frozenset[Family] = frozenset({"write", "delete", "move", "link", "mode"})

_LOOKING = re.compile(
    r"(?:blame|cat-file|check-ignore|describe|diff|for-each-ref|grep|help|log|ls-\S+|name-rev|rev-list|rev-parse|shortlog"
    r"|show|show-ref|status|symbolic-ref --short|var|version)\b"
)
"""Subcommands, with their words, that change nothing of a repository."""

_REF_OBJECTS = (
    ("refs/heads/", "branch/"),
    ("refs/tags/", "tag/"),
    ("refs/remotes/", "tracking/"),
    ("refs/", "ref/refs/"),
)


def join_internals(groups: Sequence[Group], internals: Internals, processes: Processes) -> list[Group]:
    """What git did in its folder, SQLite beside its database, and that it still ran, belong to a process's own act."""
    by_life = {seen.life: g for g in groups if g.family == "exec" for seen in g.members if seen.life is not None}
    kept: list[Group] = []
    for group in groups:
        life = group.members[0].life
        owner = by_life.get(life) if life is not None and _is_internal(group, internals, processes) else None
        if owner is None:
            kept.append(group)
        else:
            owner.members.extend(group.members)
    return kept


def _is_internal(group: Group, internals: Internals, processes: Processes) -> bool:
    if all(seen.action.detail == LEFT for seen in group.members):
        return True
    life = group.members[0].life
    if (
        life is None
        or group.family not in _CHANGING
        or any(s.action.channel not in ("kernel", "fs") for s in group.members)
    ):
        return False
    paths = [target.value for seen in group.members for target in seen.action.targets]
    if all(internals.database(path) is not None for path in paths):
        return True
    argvs = processes.lives[life].argvs
    is_git = bool(argvs) and bare_name(argvs[-1][0]).partition("-")[0] == "git"
    return is_git and all(internals.repository(path) is not None for path in paths)


def join_states(
    groups: Sequence[Group], states: Sequence[tuple[StateChange, Seen]], internals: Internals
) -> list[Group]:
    """The groups, each difference joined to its act or an act by itself, with the files that bear it out."""
    refs = {_ref_key(group.first): group for group in groups if group.first.detail == "ref" and len(group.members) == 1}
    others = [group for group in groups if _ref_key(group.first) not in refs]
    made: dict[str, Group] = {}
    taken: set[str] = set()
    owners_of = functools.cache(lambda way: [group for group in others if _is_the_change(group, way)])
    touched_by = functools.cache(lambda way: [group for group in others if _touched(group, way)])
    for told, seen in states:
        if told.error:
            continue
        way = footprint(told, internals.folders)
        ref = _ref_of(told)
        same = refs.get(ref) if ref is not None else None
        members = [seen, *(same.members if same is not None and ref not in taken else ())]
        taken.update([ref] if ref is not None and same is not None else ())
        owners: list[Group] = owners_of(way)
        for owner in owners:
            owner.members.extend(members)
        if not owners:
            doers = touched_by(way[:1]) or touched_by(way) or [one for one in others if _may_have(one, told.place)]
            value = seen.action.targets[0].value
            made.setdefault(value, Group([])).members.extend(_attributed(member, doers) for member in members)
    rest = [Group([_by_place(group.members[0], others)]) for key, group in refs.items() if key not in taken]
    return _join_bare([*others, *made.values(), *rest], internals)


def _ref_key(action: Action) -> str | None:
    return action.targets[0].value if action.detail == "ref" and action.channel == "fs" else None


def _ref_of(told: StateChange) -> str | None:
    """How fs/diff.jsonl names the ref that the difference is about."""
    if told.system != "git":
        return None
    if told.object in ("head", "repository"):
        return f"{told.place}:HEAD" if told.object == "head" else None
    if told.object.startswith("stash/"):
        return f"{told.place}:refs/stash"
    found = next(((ref, mark) for ref, mark in _REF_OBJECTS if told.object.startswith(mark)), None)
    return None if found is None else f"{told.place}:{found[0]}{told.object.removeprefix(found[1])}"


def _is_the_change(group: Group, way: Sequence[str]) -> bool:
    """Whether the act is on a file of the place and the file did change: then both are one doing."""
    if group.family not in _CHANGING or all(seen.action.channel == "fs" for seen in group.members):
        return False
    return any(
        seen.action.channel == "fs" and touches(target.value, way)
        for seen in group.members
        for target in seen.action.targets
    )


def _by_place(seen: Seen, groups: Sequence[Group]) -> Seen:
    place = seen.action.targets[0].value.rpartition(":")[0]
    return _attributed(seen, [group for group in groups if _may_have(group, place)])


def _attributed(seen: Seen, owners: Sequence[Group]) -> Seen:
    calls = {group.first.tool_call for group in owners}
    actors = {group.first.actor for group in owners}
    call = calls.pop() if len(calls) == 1 else None
    actor = actors.pop() if len(actors) == 1 else "unknown"
    return seen._replace(action=change(seen.action, tool_call=call, actor=actor)) if owners else seen


def _touched(group: Group, way: Sequence[str]) -> bool:
    """Whether something of the act may have changed a file of the place; what git writes is a `.lock` at first."""
    return any(
        action.channel != "fs"
        and action.kind not in ("read", "list", "search", "exec")
        and any(touches(target.value.removesuffix(".lock"), way) for target in action.targets if target.type == "path")
        for action in (seen.action for seen in group.members)
    )


def _may_have(group: Group, place: str) -> bool:
    """Whether the act is a git command that was started in the place, names it, or sends to another repository."""
    return group.family == "exec" and any(_is_git_for(seen.action, place) for seen in group.members)


def _is_git_for(action: Action, place: str) -> bool:
    if not action.argv or bare_name(action.argv[0]) != "git" or _LOOKING.match(action.detail):
        return False
    in_place = action.cwd is not None and below(action.cwd, place)
    return in_place or action.detail.startswith("push") or any(place in word for word in action.argv)


def _join_bare(groups: Sequence[Group], internals: Internals) -> list[Group]:
    """Net differences of internals that no act explains are one act a place, where told with what they mean."""
    meanings: dict[str, Group] = {}
    for group in groups:
        for seen in group.members:
            if seen.action.source.member == STATE:
                meanings.setdefault(seen.action.targets[0].value.partition("#")[0].partition(":")[2], group)
    kept: list[Group] = []
    homes: dict[str, Group] = {}
    for group in groups:
        place = _bare_place(group, internals)
        owner = None if place is None else homes.get(place) or _meaning(place, meanings)
        if owner is None or owner is group:
            kept.append(group)
            if place is not None:
                homes[place] = group
        else:
            owner.members.extend(group.members)
    return kept


def _meaning(place: str, meanings: Mapping[str, Group]) -> Group | None:
    return meanings.get(place.removesuffix("/.git")) or meanings.get(place)


def _bare_place(group: Group, internals: Internals) -> str | None:
    """The repository's folder or the database whose internals a net difference without any act is among."""
    actions = [seen.action for seen in group.members]
    if any(action.source.member != DIFF or action.detail == "ref" for action in actions):
        return None
    path = actions[0].targets[0].value
    return internals.repository(path) or internals.database(path) or (path if path in internals.databases else None)
