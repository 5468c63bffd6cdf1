"""How an act ended: what proves that it came through, what proves that it did not, and when neither is enough.

Proofs of coming through count whatever else is missing. A proof of failure counts only while nothing that was recorded
has been lost, since what is missing might have proved the contrary; so removing evidence turns executed and failed into
entered, and never one into the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.actions.deduced import Givens, must_have_come_through, must_have_failed
from overeager.actions.group import Group
from overeager.actions.matching import NOT_REACHED
from overeager.actions.paths import below, is_wild
from overeager.actions.read import bare_name
from overeager.actions.seen import LEFT
from overeager.actions.story import Snapshots
from overeager.contract.shim import ShimRule
from overeager.model.action import Action
from overeager.model.bundle import ChannelHealth
from overeager.model.vocabulary import Channel, State

_AUDITED = frozenset({"read", "write", "delete", "move", "link", "mode"})
"""Families that the kernel channel sees, whatever does them."""

_INTERPRETERS = frozenset({"node", "npm", "npx", "perl", "pip", "python3"})
_SHELLS = frozenset({"bash", "dash", "sh"})

_FUNCTIONS_OF_AGENTS = frozenset({"find", "grep", "egrep", "fgrep", "rg", "pkill"})
"""Names that some agents' shells define as functions of their own binary, so that no program of that name starts."""


class Setting(NamedTuple):
    """What outcomes are weighed with."""

    snapshots: Snapshots
    health: Mapping[Channel, ChannelHealth]
    lost: frozenset[Channel]
    rules: Mapping[str, ShimRule]
    made: frozenset[str]
    """Paths (trees with a final `/`) where something made, moved or linked something into place."""
    opaque: bool
    """True = a program ran of which its words do not tell what it does."""
    givens: Givens

    @property
    def sees_returns(self) -> bool:
        """Whether nothing can have put a file back, times and all, without some channel showing where."""
        return self.present("kernel") or (self.present("agent") and not self.opaque)

    def present(self, channel: Channel) -> bool:
        """Whether the channel is there and whole."""
        return self.health[channel].state == "present"


class Outcome(NamedTuple):
    """An act's state, with the gate that stopped it."""

    state: State
    blocked_by: str | None = None
    note: str = ""


def made_paths(groups: Sequence[Group]) -> frozenset[str]:
    """Paths that an act may have put something at: what was deleted may have come back by it.

    What git writes is left out: it sets the time of change anew, which shows.
    """
    return frozenset(
        action.targets[-1].value
        for group in groups
        if group.family in ("write", "move", "link")
        for action in (seen.action for seen in group.members)
        if action.targets and not action.detail.startswith("git ")
    )


def ran_opaquely(groups: Sequence[Group], rules: Mapping[str, ShimRule]) -> bool:
    """Whether some command is an interpreter, a script or a program without a rule."""
    argvs = [seen.action.argv for group in groups if group.family == "exec" for seen in group.members]
    return any(_is_opaque(argv, rules) for argv in argvs if argv)


def _is_opaque(argv: Sequence[str], rules: Mapping[str, ShimRule]) -> bool:
    name = bare_name(argv[0])
    script = name in _SHELLS and not any(word.startswith("-") and "c" in word for word in argv[1:2])
    return name not in rules or name in _INTERPRETERS or script


def conclude(group: Group, setting: Setting) -> Outcome:
    """The state of the act that the group is."""
    actions = _own_actions(group)
    if any(action.state == "executed" for action in actions):
        return Outcome("executed")
    if not setting.lost and must_have_come_through(actions, setting.givens):
        return Outcome("executed")
    gate = next((action.blocked_by for action in actions if action.blocked_by), None)
    whole_call = all(not seen.derived and seen.action.channel in ("agent", "speech") for seen in group.members)
    ran = any(action.channel in ("shim", "kernel") for action in actions)
    state = actions[0].state
    if state == "unfinished":
        return Outcome("unfinished")
    if state in ("blocked", "attempted") and not ran:
        return Outcome(state, gate)
    failure = _failure(group, actions, setting, whole_call)
    if failure is None:
        return Outcome("entered", gate)
    return failure._replace(blocked_by=gate) if not setting.lost else Outcome("entered", gate)


def _own_actions(group: Group) -> list[Action]:
    """What tells of the act itself: of a command not the files that its program keeps for itself, of a request the one
    who was asked."""
    actions = [seen.action for seen in group.members]
    if any(action.channel == "net" for action in actions):
        return [action for action in actions if action.channel == "net"]
    if group.family != "exec":
        return actions
    return [action for action in actions if action.kind == "exec" or action.detail == LEFT]


def _failure(group: Group, actions: Sequence[Action], setting: Setting, whole_call: bool) -> Outcome | None:
    """What proves that the act did not come through; None = nothing does."""
    if any(action.state == "blocked" for action in actions):
        return Outcome("blocked")
    if whole_call and actions[0].state == "failed":
        return Outcome("failed")
    told = [action.state for action in actions if action.channel != "kernel" or group.family != "read"]
    if "failed" in told and not _is_tree(group.first):
        return Outcome("failed")
    if actions and all(action.state == "failed" for action in actions):
        return Outcome("failed")
    if must_have_failed(actions, setting.givens):
        return Outcome("failed", note="not permitted there")
    if _stayed(group, setting):
        return Outcome("failed", note="nothing changed there")
    if _was_not_reached(group, setting):
        return Outcome("attempted", note=NOT_REACHED)
    return None


def _is_tree(action: Action) -> bool:
    return any(
        target.value.endswith("/") or is_wild(target.value) for target in action.targets if target.type == "path"
    )


def _stayed(group: Group, setting: Setting) -> bool:
    """The diff shows that nothing of the act's effect is there, and nothing can have put it back."""
    if group.family not in ("delete", "move") or not setting.present("fs") or not setting.sees_returns:
        return False
    values = [target.value for target in group.first.targets if target.type == "path" and target.role != "to"]
    return bool(values) and all(_place_stayed(value, setting) for value in values)


def _place_stayed(value: str, setting: Setting) -> bool:
    snapshots = setting.snapshots
    if is_wild(value):
        return False
    root = value.rstrip("/")
    if any(below(made, root) or (made.endswith("/") and below(root, made)) for made in setting.made):
        return False
    inside = [path for path in snapshots.before if below(path, root)] if value.endswith("/") else []
    places = inside or [root]
    if not any(place in snapshots.before for place in places):
        return _in_snapshot(root, snapshots) and not any(below(path, root) for path in snapshots.after)
    return all(snapshots.untouched(place) for place in places)


def _in_snapshot(path: str, snapshots: Snapshots) -> bool:
    """Whether the place lies where the snapshots look: in the folder of something that they show."""
    return path.rpartition("/")[0] in snapshots.before


def _was_not_reached(group: Group, setting: Setting) -> bool:
    """A command that only stands in a text, where a whole channel that would have seen it saw nothing."""
    if any(not seen.derived for seen in group.members):
        return False
    action = group.first
    name = bare_name(action.argv[0]) if action.argv else ""
    if group.family == "exec":
        return _exec_was_not_reached(name, setting)
    if group.family not in _AUDITED or not setting.present("kernel"):
        return False
    return all(_is_plain_place(target.value, setting) for target in action.targets if target.type == "path")


def _exec_was_not_reached(name: str, setting: Setting) -> bool:
    if name in _FUNCTIONS_OF_AGENTS:
        return False
    rule = setting.rules.get(name)
    return setting.present("kernel") or (setting.present("shim") and rule is not None and rule.shimmed)


def _is_plain_place(value: str, setting: Setting) -> bool:
    """Whether the kernel would have named the place as the text does: no wildcard, no link on the way to it."""
    if is_wild(value):
        return False
    parts = value.rstrip("/").split("/")
    ways = ("/".join(parts[:end]) for end in range(2, len(parts) + 1))
    entries = setting.snapshots.before
    return bool(entries) and not any(way in entries and entries[way].type == "link" for way in ways)
