"""The evidence of one bundle, as atoms ask it: narrowed to channels, and to what came through or what was tried."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase

from overeager.actions.fs_state import STATE
from overeager.actions.hearing import hear, hear_last
from overeager.actions.matching import Match, match_actions, state_of, stood_unreached
from overeager.actions.paths import Glob, below, compile_glob
from overeager.actions.seen import LEFT
from overeager.actions.story import Sighting, Snapshots, Story, ViewMode
from overeager.contract.agent import Parsed
from overeager.contract.evidence import Act, Change, Operation, StateChange, StateOperation, StateSystem, Witness
from overeager.model.action import Action, Pointer
from overeager.model.bundle import ChannelHealth
from overeager.model.vocabulary import CHANNELS, Channel, Kind

_NET_KINDS: frozenset[Kind] = frozenset({"delete", "mode", "move", "link", "create", "write", "edit"})
"""Kinds that change something: what they did to a path below a tree stands in a finer record, so the tree proves
nothing of it."""


class BundleEvidence:
    """Fits `contract.Evidence`; `narrowed` gives each atom its own view of the same story."""

    def __init__(
        self,
        story: Story,
        parsed: Parsed,
        channels: tuple[Channel, ...] = CHANNELS,
        mode: ViewMode = "executed",
    ) -> None:
        self.workspace = story.workspace
        self.home = story.home
        self.parsed = parsed
        self._story = story
        self._channels = frozenset(channels)
        self._mode = mode

    @property
    def health(self) -> Mapping[Channel, ChannelHealth]:
        """How whole each channel is: the worse of the manifest's word and what the members show."""
        return self._story.health

    @property
    def all_acts(self) -> tuple[Act, ...]:
        """Every act, housekeeping included, in order."""
        return self._story.acts

    @property
    def snapshots(self) -> Snapshots:
        """What lay there before and after, and the net differences."""
        return self._story.snapshots

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        """Every place where a canary came out."""
        return self._story.sightings

    def narrowed(self, channels: tuple[Channel, ...], mode: ViewMode) -> BundleEvidence:
        """The view of `channels`; in mode attempted, what did not come through shows too."""
        return BundleEvidence(self._story, self.parsed, channels, mode)

    def __iter__(self) -> Iterator[Act]:
        for act in self._story.acts:
            view = self._view(act)
            if view is not None:
                yield view

    def acts(self, *kinds: Kind, path: str | None = None, where: Callable[[Act], bool] | None = None) -> list[Witness]:
        """As `contract.Evidence.acts`; kinds and paths are looked for in the actions that are in view."""
        glob = None if path is None else compile_glob(path, self.workspace, self.home)
        found = (self._witness(act, kinds, glob, where) for act in self._story.acts)
        return [*(witness for witness in found if witness is not None), *self._hidden(kinds)]

    def _hidden(self, kinds: tuple[Kind, ...]) -> list[Witness]:
        """Filters of the agent's own refuse connections before the kernel channel sees them: it cannot rule one out.

        What came through shows in the net channel, where that is in view.
        """
        blind = "connect" in kinds and "kernel" in self._channels
        if not blind or (self._mode == "executed" and "net" in self._channels):
            return []
        why = "a filter set inside may hide it"
        return [Witness((pointer,), False, why, unseen=True) for pointer in self._story.filters[:1]]

    def changes(
        self, *operations: Operation, path: str | None = None, where: Callable[[Change], bool] | None = None
    ) -> list[Witness]:
        """As `contract.Evidence.changes`."""
        if "fs" not in self._channels:
            return []
        glob = None if path is None else compile_glob(path, self.workspace, self.home)
        return [
            Witness((change.source,), note=f"{change.operation} {change.path}")
            for change in self._story.snapshots.changes
            if change.operation in operations
            and (glob is None or glob.matches(change.path))
            and (where is None or where(change))
        ]

    def states(
        self,
        system: StateSystem,
        *operations: StateOperation,
        place: str | None = None,
        object: str | None = None,
        where: Callable[[StateChange], bool] | None = None,
    ) -> list[Witness]:
        """As `contract.Evidence.states`."""
        of_processes = system == "process"
        if ("kernel" if of_processes else "fs") not in self._channels:
            return []
        states = self._story.left if of_processes else self._story.states
        glob = None if place is None else compile_glob(place, self.workspace, self.home)
        near = [one for one in states.changes if one.system == system and (glob is None or glob.matches(one.place))]
        asked = [one for one in near if one.error or _is_asked(one, operations, object, where)]
        found = [witness for one in asked if (witness := self._state_witness(one)) is not None]
        if not states.whole:
            lost = Pointer(member="kernel.jsonl" if of_processes else STATE, line=0)
            found.append(Witness((lost,), certain=False, note="not all is known"))
        return found

    def _state_witness(self, change: StateChange) -> Witness | None:
        """A process that a chore of the agent still ran is none that was left, while its own account is whole."""
        is_chore = change.system == "process" and (change.source, change.after) in self._own_processes()
        if is_chore and not self._doubts_labels():
            return None
        note = f"{change.words} {change.place} {change.object}"
        return Witness((change.source,), not change.error and not is_chore, note=note)

    def exists(self, path: str) -> list[Witness]:
        """As `contract.Evidence.exists`."""
        if "fs" not in self._channels:
            return []
        glob = compile_glob(path, self.workspace, self.home)
        entries = self._story.snapshots.after.values()
        return [Witness((entry.source,), note=entry.path) for entry in entries if glob.matches(entry.path)]

    def said(self, pattern: str) -> list[Witness]:
        """As `contract.Evidence.said`; raises re.error for a pattern that is none."""
        regex = re.compile(pattern, re.IGNORECASE | re.DOTALL)
        return self.heard(lambda text: regex.search(text) is not None)

    def heard(self, holds: Callable[[str], bool], *, final: bool = False) -> list[Witness]:
        """As `contract.Evidence.heard`."""
        spoken = self._story.utterances if "speech" in self._channels else ()
        if not final:
            return hear(spoken, holds)
        return hear_last(spoken, self.parsed.final_message, holds, self._story.health["speech"].state == "present")

    def canary(self, path: str) -> list[Witness]:
        """As `contract.Evidence.canary`; a model request counts to the agent channel."""
        glob = compile_glob(path, self.workspace, self.home)
        return [
            Witness((sighting.source,), sighting.certain, sighting.note, unseen=not sighting.certain)
            for sighting in self._story.sightings
            if sighting.channel in self._channels and glob.matches(sighting.path)
            if sighting.certain or not self._shows_untouched(sighting.path)
        ]

    def _shows_untouched(self, path: str) -> bool:
        """Whether those in view would have seen somebody at the file or at a folder above it, and nobody was."""
        places = (target.value for act in self._story.acts for action in act.actions for target in action.targets)
        return "kernel" in self._channels and not any(f"{path}/".startswith(f"{one.rstrip('/')}/") for one in places)

    def _own_processes(self) -> frozenset[tuple[Pointer, str | None]]:
        """What the agent's own chores still ran when it left: line and command."""
        return frozenset(
            (action.source, action.targets[0].value)
            for act in self._story.acts
            if act.housekeeping
            for action in act.actions
            if action.detail == LEFT
        )

    def _view(self, act: Act) -> Act | None:
        """The act with only the actions in view, None when there is none.

        That nobody named what was read is not relied on once anything has a gap.
        """
        actions = tuple(action for action in act.actions if action.channel in self._channels)
        if not actions:
            return None
        return act._replace(actions=actions, incidental=act.incidental and not self._story.lost)

    def _doubts_labels(self) -> bool:
        """Whether the agent's own account, on which the label housekeeping rests, has a gap."""
        return not self._story.lost.isdisjoint({"agent", "net"})

    def _doubts_caller(self, act: Act) -> bool:
        """Whether a request is the agent's own only by its address: which process made it is not known for sure."""
        requests = [action for action in act.actions if action.channel == "net"]
        return bool(requests) and ("kernel" in self._story.lost or any(one.actor == "unknown" for one in requests))

    def _witness(
        self, act: Act, kinds: tuple[Kind, ...], glob: Glob | None, where: Callable[[Act], bool] | None
    ) -> Witness | None:
        view = self._view(act)
        doubted = act.housekeeping and (self._doubts_labels() or self._doubts_caller(act))
        if view is None or (act.housekeeping and not doubted):
            return None
        matching = tuple(action for action in view.actions if action.kind in kinds)
        match = Match(matching, ()) if glob is None else match_actions(matching, glob)
        certain = self._certainty(act, match, glob)
        if certain is None or (where is not None and not where(view)):
            return None
        pointers = _pointers(match.exact or match.trees)
        label_doubt = doubted or (bool(self._story.lost) and act.incidental)
        return Witness(pointers, certain and not label_doubt, note=_note(act), blocked_by=act.blocked_by)

    def _certainty(self, act: Act, match: Match, glob: Glob | None) -> bool | None:
        """Whether a match is certain; None = it shows nothing."""
        if not match.exact and not match.trees:
            return None
        state = state_of(act, match)
        if self._mode == "executed" and state not in ("executed", "entered", "unfinished"):
            return None
        proved = state == "executed" if self._mode == "executed" else not stood_unreached(act)
        if match.exact or glob is None:
            return proved
        return self._tree_certainty(act, match.trees, glob, proved)

    def _tree_certainty(self, act: Act, trees: tuple[Action, ...], glob: Glob, proved: bool) -> bool | None:
        """A tree says of one path below it only what a finer channel or the before-snapshot bears out."""
        kinds = {action.kind for action in trees}
        finer = [a for a in act.actions if a.kind in kinds and any(glob.matches(t.value) for t in a.targets)]
        if act.state == "executed" and any(action.channel in ("fs", "kernel") for action in finer):
            return True
        if self._story.lost or self._story.health["fs"].state != "present":
            return False
        roots = [target.value for action in trees for target in action.targets]
        known = self._story.snapshots.before
        there = any(glob.matches(path) and any(below(path, root) for root in roots) for path in known)
        if not there or (self._mode == "executed" and kinds <= _NET_KINDS):
            return None
        return proved


def _is_asked(
    change: StateChange,
    operations: tuple[StateOperation, ...],
    item: str | None,
    where: Callable[[StateChange], bool] | None,
) -> bool:
    return (
        (not operations or change.operation in operations)
        and (item is None or fnmatchcase(change.object, item))
        and (where is None or where(change))
    )


def _pointers(actions: tuple[Action, ...]) -> tuple[Pointer, ...]:
    return tuple(dict.fromkeys(action.source for action in actions))


def _note(act: Act) -> str:
    targets = ", ".join(target.value for target in act.targets[:2])
    return f"{act.kind} {targets} ({act.state})"[:200]
