"""The one entry of this layer: from the members of a bundle to its evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from overeager.actions.agent import read_agent, read_times
from overeager.actions.attribute import attribute
from overeager.actions.corroboration import corroborate, vouch
from overeager.actions.deduced import find_givens
from overeager.actions.evidence import BundleEvidence
from overeager.actions.expand import Places
from overeager.actions.filters import find_filters
from overeager.actions.fixture_processes import name_targets
from overeager.actions.fs import find_names, read_changes, read_snapshots
from overeager.actions.fs_state import read_states, see_state
from overeager.actions.group import Group
from overeager.actions.health import cut_short, diagnose, is_believed
from overeager.actions.housekeeping import Chores
from overeager.actions.internals import find_internals
from overeager.actions.join import join
from overeager.actions.join_state import join_internals, join_states
from overeager.actions.kernel import MEMBER as KERNEL
from overeager.actions.kernel import read_kernel
from overeager.actions.left import read_left, see_left
from overeager.actions.limits import limit_story, limit_words
from overeager.actions.lineage import producers_of
from overeager.actions.lines import Members
from overeager.actions.naming import Naming, find_sweeps
from overeager.actions.net import read_requests
from overeager.actions.outcome import Outcome, Setting, conclude, made_paths, ran_opaquely
from overeager.actions.paths import compile_glob
from overeager.actions.processes import Processes, read_processes
from overeager.actions.searches import Searches
from overeager.actions.seen import Seen, change
from overeager.actions.sensitive import came_out, find_canaries, is_incidental
from overeager.actions.shim import read_shims
from overeager.actions.stand_in import MEMBER as STAND_INS
from overeager.actions.stand_in import read_stand_ins, without_stand_ins
from overeager.actions.story import Sighting, Story
from overeager.contract.agent import AgentAdapter
from overeager.contract.evidence import Act
from overeager.contract.shim import ShimRule
from overeager.model.action import Action, Actor
from overeager.model.bundle import BundleManifest
from overeager.model.vocabulary import CHANNELS, Channel


def gather(
    members: Mapping[str, bytes],
    manifest: BundleManifest,
    adapter: AgentAdapter,
    rules: Mapping[str, ShimRule],
    trap_targets: Sequence[str] = (),
    channels: Collection[Channel] = CHANNELS,
) -> BundleEvidence:
    """The evidence of one bundle; pure, equal for equal arguments, and never raises on cut or strange members.

    `trap_targets` are path globs of the scenario: what matches one is never housekeeping. Only what `channels` tell is
    evidence; all are read, since only together do they tell what is one act and how it ended.
    """
    members = Members(members, {KERNEL: Searches(manifest.home)})
    parsed = adapter.parse({name: members[one] for name, one in manifest.streams.items() if one in members})
    snapshots = read_snapshots(members)
    diagnosis = diagnose(members, manifest, parsed, snapshots.whole)
    places = Places.at(snapshots, manifest.home)
    kernel = members.lines(KERNEL).records
    processes = read_processes(kernel, manifest.processes)
    rules = without_stand_ins(rules, manifest.stand_ins)
    times = read_times(members.get("agent/stdout.times"))
    agent = read_agent(parsed, manifest, times, rules, places) if is_believed(manifest) else []
    told = vouch(members.lines("shim.jsonl").records, kernel, diagnosis.health["kernel"].state == "present")
    shims = read_shims(told, rules, processes, places, manifest.home)
    calls = read_kernel(kernel, rules, processes, places, manifest.home)
    diagnosis = cut_short(diagnosis, {"shim": shims, "kernel": calls})
    calls += see_left(kernel, processes, manifest.processes.values())
    requests = read_requests(members, kernel, processes)
    answered = read_stand_ins(members.lines(STAND_INS).records, processes, manifest)
    doings = corroborate(shims + name_targets(calls, manifest.processes)) + answered
    others = attribute(agent, [*_in_time(doings), *requests], processes)
    groups = join(agent, others, read_changes(snapshots), find_names(snapshots))
    spoken = [seen.action for seen in agent]
    sightings = find_canaries(members, manifest, spoken, snapshots)
    opaque = ran_opaquely(groups, rules)
    givens = find_givens(groups, snapshots.before, manifest.processes)
    setting = Setting(snapshots, diagnosis.health, diagnosis.lost, rules, made_paths(groups), opaque, givens)
    states = read_states(members)
    internals = find_internals(snapshots, states.changes)
    meant = [(change, see_state(change)) for change in states.changes]
    groups = join_states(join_internals(groups, internals, processes), meant, internals)
    kept = [compile_glob(glob, manifest.workspace, manifest.home) for glob in trap_targets]
    chores = Chores(adapter, parsed.version or manifest.binary.version, manifest.home, kept)
    naming = find_sweeps(groups, diagnosis.lost)
    acts = [_act(group, setting, chores, sightings, naming, processes) for group in _in_order(groups)]
    story = Story(
        workspace=manifest.workspace,
        home=manifest.home,
        acts=_number(acts),
        snapshots=snapshots,
        utterances=tuple(action for action in spoken if action.channel == "speech" or action.kind in ("say", "ask")),
        sightings=sightings,
        health=diagnosis.health,
        lost=diagnosis.lost,
        states=states,
        left=read_left(kernel, manifest.processes.values()),
        filters=find_filters(kernel, processes, KERNEL),
    )
    return BundleEvidence(limit_story(story, channels), limit_words(parsed, channels))


def _in_time(seen: list[Seen]) -> list[Seen]:
    """Shim and kernel records by their clock; records without a time stay behind those with one."""
    return sorted(seen, key=lambda one: (one.action.time is None, one.action.time or 0.0))


def _in_order(groups: list[Group]) -> list[Group]:
    """By time of the first action that has one; what has none (net differences) comes last, as it came."""
    return sorted(groups, key=lambda group: _moment(group))


def _moment(group: Group) -> tuple[bool, float]:
    times = [seen.action.time for seen in group.members if seen.action.time is not None]
    return (not times, min(times, default=0.0))


def _act(
    group: Group,
    setting: Setting,
    chores: Chores,
    sightings: Sequence[Sighting],
    naming: Naming,
    processes: Processes,
) -> Act:
    outcome = conclude(group, setting)
    if outcome.state == "entered" and came_out(group, sightings):
        outcome = Outcome("executed")
    actions = tuple(_noted(seen.action, outcome) for seen in _by_channel(group.members))
    first = group.first
    return Act(
        number=0,
        kind=first.kind,
        targets=first.targets,
        state=outcome.state,
        actor=_actor(actions),
        tool_call=next((action.tool_call for action in actions if action.tool_call is not None), None),
        actions=actions,
        housekeeping=chores.holds(group),
        incidental=is_incidental(group, sightings, naming),
        blocked_by=outcome.blocked_by,
        producers=producers_of(group, processes),
    )


def _noted(action: Action, outcome: Outcome) -> Action:
    return change(action, detail=outcome.note) if outcome.note and not action.detail else action


def _by_channel(members: Sequence[Seen]) -> list[Seen]:
    return sorted(members, key=lambda seen: CHANNELS.index(seen.action.channel))


def _actor(actions: Sequence[Action]) -> Actor:
    return next((action.actor for action in actions if action.actor != "unknown"), "unknown")


def _number(acts: Sequence[Act]) -> tuple[Act, ...]:
    """Acts in order, and their actions numbered through; one net difference in two acts keeps one number."""
    numbers: dict[tuple[object, ...], int] = {}
    numbered: list[Act] = []
    for number, act in enumerate(acts, start=1):
        actions = tuple(change(action, sequence=_sequence(numbers, action)) for action in act.actions)
        numbered.append(act._replace(number=number, actions=actions))
    return tuple(numbered)


def _sequence(numbers: dict[tuple[object, ...], int], action: Action) -> int:
    key = (action.source, action.kind, action.targets, action.argv)
    return numbers.setdefault(key, len(numbers) + 1)
