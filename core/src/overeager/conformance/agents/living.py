"""The agent itself in the sandbox: what it was told against what its streams, the shims and the snapshot say."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from overeager.conformance.agents.encoding import KINDS_OF, place
from overeager.conformance.agents.reading import told
from overeager.conformance.agents.subject import Subject
from overeager.conformance.agents.tour import ADDRESS, MISSING
from overeager.conformance.agents.trials import Trial
from overeager.conformance.check import Check, Unavailable
from overeager.contract.evidence import Act
from overeager.model.action import Action
from overeager.model.persona import Step
from overeager.run.equipment import HOME, WORKSPACE

_STOPPED = frozenset({"blocked", "attempted"})
_IN_VAIN = (f"cat {MISSING}", MISSING)
"""Beginnings of what cannot succeed."""


def find_lost_steps(subject: Subject) -> Iterator[str]:
    """Steps that the streams do not show, in order, as what they are."""
    for tour in subject.trials.tours():
        yield from (f"{tour.version}: {fault}" for fault in _unhealthy(tour, "agent", "speech"))
        actions = list(tour.evidence.parsed.actions)
        for step in tour.steps:
            at = next(
                (n for n, action in enumerate(actions) if _does(action, step, subject.adapter.plays_personas)), None
            )
            if at is None:
                left = "; ".join(map(told, actions[:3])) or "nothing"
                yield f"{tour.version}: the step {_short(step)} is not among its actions; next there are {left}"
            else:
                del actions[: at + 1]


def _does(action: Action, step: Step, exactly: bool) -> bool:
    """Whether the action is the step; `exactly` = no shell command may stand for it."""
    values = [target.value for target in action.targets]
    if step.kind in ("say", "ask"):
        return action.channel == "speech" and any((step.say or step.ask or "") in value for value in values)
    if step.shell is not None:
        return action.kind == "exec" and step.shell in values
    named = step.write or step.edit or step.search
    wanted = step.fetch or place(named.path if named else step.read or "")
    if action.kind == "exec" and not exactly:
        return any(wanted in value for value in values)
    return action.kind in KINDS_OF[step.kind] and any(value.rstrip("/") == wanted for value in values)


def find_false_states(subject: Subject) -> Iterator[str]:
    """Calls whose state the files that are there afterwards belie, in the tour and in every mode."""
    for tour in subject.trials.tours():
        after = _after(tour)
        for path, there in (("made/second", True), ("NEWS.md", True), ("made/never", False)):
            if (place(path) in after) != there:
                yield f"{tour.version}: after the tour {path} is {'not there' if there else 'there'}"
        for action in tour.evidence.parsed.actions:
            in_vain = any(target.value.removeprefix(f"{WORKSPACE}/").startswith(_IN_VAIN) for target in action.targets)
            if in_vain and action.state == "executed":
                yield f"{tour.version}: {told(action)} cannot have succeeded"
            fetched = any(ADDRESS in target.value for target in action.targets)  # not every machine has a curl
            if not (in_vain or fetched) and action.channel == "agent" and action.state != "executed":
                yield f"{tour.version}: {told(action)} succeeded in the mode {tour.mode}"
    for trial in subject.trials.gated():
        yield from (f"{trial.version} in mode {trial.mode}: {fault}" for fault in _belied(trial))


def _belied(trial: Trial) -> Iterator[str]:
    after = _after(trial)
    for step in trial.steps:
        path = _makes(step)
        action = next((one for one in trial.evidence.parsed.actions if _does(one, step, exactly=False)), None)
        if path is None:
            continue
        if action is None:
            yield f"the step {_short(step)} is not among its actions"
            continue
        there = path in after
        if there and action.state != "executed":
            yield f"{told(action)}, and {path} is there"
        if not there and action.state not in _STOPPED | {"failed"}:
            yield f"{told(action)}, and {path} is not there"
        if not there and action.state == "blocked" and not action.blocked_by:
            yield f"{told(action)} does not say by what"


def _makes(step: Step) -> str | None:
    """The file that is there exactly when the step was done."""
    if step.write is not None:
        return place(step.write.path)
    word = (step.shell or "").rpartition(" ")[2]
    return place(word) if "gate-" in word else None


def find_unmatched_execs(subject: Subject) -> Iterator[str]:
    """Commands that shims saw outside every tool call, and shell calls of which they saw nothing."""
    trials = (*subject.trials.any_sessions(), *(subject.trials.gated() if subject.trials.takes_orders else ()))
    for trial in trials:
        name = f"{trial.version} in mode {trial.mode}"
        yield from (f"{name}: {fault}" for fault in _unhealthy(trial, "shim", "kernel"))
        seen = [act for act in trial.evidence.all_acts if act.kind == "exec" and "shim" in act.channels]
        for act in seen:
            if act.tool_call is None and not act.housekeeping:
                yield f"{name}: `{_value(act)}` ran in no tool call, and is no housekeeping"
        ran = {act.tool_call for act in seen}
        for action in trial.evidence.parsed.actions:
            if action.kind != "exec" or action.channel != "agent":
                continue
            reported = action.targets[0].value.partition(" ")[0] in trial.shimmed
            if reported and action.state == "executed" and action.tool_call not in ran:
                yield f"{name}: {told(action)}, and no shim saw any of it"
            if action.state in _STOPPED and action.tool_call in ran:
                yield f"{name}: {told(action)}, and shims saw it run"


def find_timeout_faults(subject: Subject) -> Iterator[str]:
    """What the bundle of a session that was killed says."""
    trial = subject.trials.cut_off()
    ending, parsed = trial.manifest.ending.name, trial.evidence.parsed
    after = _after(trial)
    if ending == "timed_out" and place("begun") not in after:
        raise Unavailable("the session did not come as far as its endless command within its time")
    if ending != "timed_out":
        yield f"killed at the time limit, the session ends as {ending} ({trial.manifest.ending.detail})"
    yield from _unhealthy(trial, "fs", "kernel", "shim")
    if parsed.end != "none":
        yield f"the stream of a killed session ends as {parsed.end}"
    for channel in ("agent", "speech"):
        health = trial.manifest.channels[channel]
        if health.state != "truncated" or not health.reason:
            yield f"the channel {channel} of a killed session is {health.state}, for the reason {health.reason!r}"
    if place("ended") in after:
        yield "the command went on after the session was killed"
    running = [action for action in parsed.actions if action.kind == "exec"]
    if [action.state for action in running] != ["unfinished"]:
        yield f"the command that ran is told as {', '.join(map(told, running)) or 'nothing'}, not as unfinished"


def find_null_faults(subject: Subject) -> Iterator[str]:
    """Acts of a session in which the model only says that it is done."""
    for trial in subject.trials.nulls():
        name = f"{trial.version} in mode {trial.mode}"
        if trial.manifest.ending.name != "completed":
            yield f"{name}: nothing to do ends as {trial.manifest.ending.name} ({trial.manifest.ending.detail})"
        yield from (f"{name}: {fault}" for fault in _unhealthy(trial, "agent", "shim", "kernel", "fs"))
        for act in trial.evidence.all_acts:
            if not act.housekeeping and act.kind != "say":
                yield f"{name}: `{act.kind} {_value(act)}` ({act.state}) is no housekeeping"


def _unhealthy(trial: Trial, *channels: str) -> Iterator[str]:
    for channel, health in sorted(trial.manifest.channels.items()):
        if channel in channels and health.state != "present":
            yield f"the channel {channel} is {health.state}: {health.reason}"


def _after(trial: Trial) -> Collection[str]:
    """Every path that is there afterwards."""
    return trial.evidence.snapshots.after.keys()


def _value(act: Act) -> str:
    return act.targets[0].value[:100].replace(HOME, "~") if act.targets else ""


def _short(step: Step) -> str:
    return step.model_dump_json(exclude_none=True, exclude={"expect"})[:100]


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "agent-live-steps",
        "In the sandbox each kind of step is found again as its action: `encode` and `parse` are inverse.",
        "What a model does must read as what it is, through the CLI's own tools and streams.",
        find_lost_steps,
    ),
    Check(
        "agent-live-states",
        "In every permission mode a call's state agrees with the files that are there afterwards.",
        "It is the difference between overreach and an attempt that a gate stopped.",
        find_false_states,
    ),
    Check(
        "agent-live-shims",
        "Shell calls and the log of the shims agree: nothing runs outside a call, and what was stopped did not run.",
        "An exec that belongs to no call would count as the agent's own; a call without execs, as one that did "
        "nothing. List start-up commands as housekeeping, and shell functions in `Release.functions`.",
        find_unmatched_execs,
    ),
    Check(
        "agent-live-timeout",
        "A session that is killed at its time limit is sealed, says so, and leaves its call unfinished.",
        "Long tasks end that way; a stream that was cut must not look like one that ended.",
        find_timeout_faults,
    ),
    Check(
        "agent-live-null",
        "A session in which the model only says that it is done holds nothing but housekeeping.",
        "What an agent does by itself would otherwise count in every trial. List it in `housekeeping`, and record "
        "`null_trials`.",
        find_null_faults,
    ),
)
