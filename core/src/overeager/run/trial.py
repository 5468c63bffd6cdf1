"""One attempt of one trial, in a process that a worker forked: from an empty room to a sealed bundle."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from overeager.audit import diff, snapshot
from overeager.audit.snapshot import Snapshot
from overeager.contract.agent import Launch, Parsed, Task
from overeager.contract.effects import Finished, Limits, Room, SandboxPlan
from overeager.errors import OvereagerError
from overeager.model.bundle import (
    Binary,
    BundleManifest,
    ChannelHealth,
    EndingRecord,
    Timings,
    TrialId,
)
from overeager.model.persona import Step
from overeager.model.scenario import Scenario
from overeager.model.vocabulary import Channel
from overeager.run import model_side
from overeager.run.capture import Capture, Captured, collect_streams
from overeager.run.coverage import check_shims
from overeager.run.ending import conclude_ending
from overeager.run.equipment import (
    GATEWAY_HOST,
    GATEWAY_PORT,
    HOME,
    HOSTS,
    INSTALL,
    WORKSPACE,
    Equipment,
)
from overeager.run.pool import Job, Outcome
from overeager.run.prompt import render_prompt
from overeager.run.stage import Stage
from overeager.run.stimulus import lock_stimulus
from overeager.run.stock import Stock, Subject
from overeager.run.watch import watch
from overeager.store import bundle, fixture, room

A = TypeVar("A")
B = TypeVar("B")


class _Setting(NamedTuple):
    """What is known before the agent starts."""

    trial: TrialId
    attempt: int
    subject: Subject
    prompt: str
    steps: tuple[Step, ...]
    key: str
    room: Room
    launch: Launch
    before: Snapshot
    began: float


class _Observed(NamedTuple):
    """What was seen of the agent, everything being dead."""

    finished: Finished
    outputs: Mapping[str, Captured]
    gateway: model_side.GatewayRecord
    timings: Timings


def execute_trial(equipment: Equipment, stock: Stock, job: Job) -> Outcome:
    """Run the attempt and seal its bundle; a coded error that concerns the whole run comes back in the outcome."""
    try:
        place = room.open_room(None, equipment.tools.identity, equipment.tools.rig.shared)
        try:
            return _execute_in(place, equipment, stock, job)
        finally:
            room.close_room(place)
    except OvereagerError as error:
        return Outcome(job.trial, job.attempt, "infrastructure_error", error.what, error=str(error))


def _execute_in(place: Room, equipment: Equipment, stock: Stock, job: Job) -> Outcome:
    setting = _set_up(equipment, stock, equipment.plan.trials[job.trial], job.attempt, place)
    observed = _observe(equipment, stock, setting, job.budget)
    ending, name = _seal(equipment, setting, observed)
    return Outcome(job.trial, job.attempt, ending.name, ending.detail, name, observed.gateway.charged)


def _set_up(equipment: Equipment, stock: Stock, trial: TrialId, attempt: int, place: Room) -> _Setting:
    began = time.monotonic()
    subject = stock.subject(trial.scenario)
    scenario = subject.scenario
    fixture.lay_template(subject.template, place, equipment.tools.identity)
    prompt = render_prompt(scenario.prompt, trial.variant)
    steps = getattr(scenario.personas, trial.persona) if trial.persona else model_side.NULL_STEPS
    key = model_side.dummy_key(equipment.adapter.wire_api, f"{trial.scenario}/{trial.repeat}")
    launch = _ask(equipment, equipment.adapter.launch, _task(equipment, scenario, prompt, steps, key))
    fixture.add_files(place.home, launch.files, equipment.tools.identity)
    before = snapshot.take(_roots(place))
    _records(place).mkdir()
    return _Setting(trial, attempt, subject, prompt, steps, key, place, launch, before, began)


def _ask(equipment: Equipment, method: Callable[[A], B], argument: A) -> B:
    """What the adapter says; raises RUN013, which names its distribution, when it breaks."""
    try:
        return method(argument)
    except Exception as error:
        _, origin = equipment.registry.agents[equipment.adapter.id]
        raise OvereagerError(
            "RUN013",
            f"agent adapter '{equipment.adapter.id}' broke in {method.__name__}: {type(error).__name__}: {error}",
            where=f"{origin.distribution} {origin.version}",
            cure="an adapter's methods are pure and never raise; report this to the distribution that offers it",
        ) from error


def _task(equipment: Equipment, scenario: Scenario, prompt: str, steps: tuple[Step, ...], key: str) -> Task:
    adapter, cell = equipment.adapter, equipment.plan.cell
    return Task(
        prompt=prompt,
        workspace=WORKSPACE,
        home=HOME,
        endpoint=f"http://{GATEWAY_HOST}:{GATEWAY_PORT}" if adapter.wire_api else None,
        key=key,
        model=cell.model,
        mode=cell.mode,
        version=cell.version,
        turns=scenario.interaction.turns,
        install=INSTALL,
        binary=equipment.agent.path if equipment.agent else "",
        steps=steps if adapter.plays_personas else (),
    )


def _roots(place: Room) -> dict[str, Path]:
    return {HOME: place.home, "/tmp": place.tmp}


def _observe(equipment: Equipment, stock: Stock, setting: _Setting, budget: float | None) -> _Observed:
    limits = Limits(seconds=equipment.plan.seconds or setting.subject.scenario.interaction.seconds)
    records = _records(setting.room)
    gateway = model_side.open_gateway(equipment, setting.steps, records, setting.began, budget)
    plan = _sandbox_plan(equipment, setting, limits)
    stage = Stage(plan, equipment.tools.rig, records, setting.began, auditor=stock.auditor())
    try:
        started = stage.start()
        gateway.start(started.listeners)
        captures = {
            name: Capture(descriptor, records / name, setting.began, limits.stream_bytes)
            for name, descriptor in (("stdout", started.stdout), ("stderr", started.stderr))
        }
        launched = time.monotonic()
        stage.go()
        finished = watch(stage, tuple(captures.values()), setting.room.root, limits)
        ended = time.monotonic()
        outputs = {name: capture.finish() for name, capture in captures.items()}
    finally:
        stage.close()
        record = gateway.stop()
    timings = Timings(
        setup=_milliseconds(launched - setting.began),
        agent=_milliseconds(ended - launched),
        teardown=_milliseconds(time.monotonic() - ended),
    )
    return _Observed(finished, outputs, record, timings)


def _sandbox_plan(equipment: Equipment, setting: _Setting, limits: Limits) -> SandboxPlan:
    environment = {
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "USER": "user",
        **setting.launch.environment,
    }
    return SandboxPlan(
        room=setting.room,
        identity=equipment.tools.identity,
        argv=setting.launch.argv,
        environment=environment,
        cwd=WORKSPACE,
        mounts=equipment.agent.mounts if equipment.agent else (),
        hosts=HOSTS,
        ports=(GATEWAY_PORT,) if equipment.adapter.wire_api else (),
        limits=limits,
        shims=equipment.shims,
        kernel=equipment.plan.cell.kernel,
    )


def _records(place: Room) -> Path:
    """Where records are written while the trial runs: below the room, not seen inside."""
    return place.root / "out"


def _seal(equipment: Equipment, setting: _Setting, observed: _Observed) -> tuple[EndingRecord, str]:
    place, world = setting.room, setting.subject.template.world
    after = snapshot.take(_roots(place), setting.before)
    outputs = {name: captured.path for name, captured in observed.outputs.items()}
    streams = collect_streams(equipment.adapter.streams, outputs, _home_files(after), 1 << 28)
    parsed = _ask(equipment, equipment.adapter.parse, streams)
    differences = diff.compare(setting.before, after)
    changed = any(one.path.startswith(f"{world.workspace}/") for one in differences)
    ending = conclude_ending(observed.finished, parsed, observed.gateway.side, changed)
    if observed.finished.killed == "stop":
        raise OvereagerError("RUN003", "the trial was stopped")
    members = _members(setting, observed, streams, after)
    members["fs/diff.jsonl"] = diff.write(differences)
    manifest = BundleManifest(
        schema_version=1,
        trial=setting.trial,
        attempt=setting.attempt,
        cell=equipment.plan.cell,
        scenario=setting.subject.digest,
        stimulus=lock_stimulus(setting.subject.stimulus, setting.prompt, setting.launch, setting.key),
        workspace=world.workspace,
        home=world.home,
        binary=_binary(equipment),
        plugins=equipment.plugins,
        started=datetime.now(UTC).replace(microsecond=0).isoformat(),
        timings=observed.timings,
        ending=ending,
        channels=_channels(equipment, observed, parsed, after, members),
        canaries=world.canaries,
        streams={name: _member_name(name) for name in streams},
        members={},
        charged_usd=round(observed.gateway.charged, 6),
        product=equipment.plan.product,
    )
    path = equipment.folder.bundle_path(setting.trial.name, setting.attempt)
    secrets = (equipment.provider.key.encode(),) if equipment.provider else ()
    bundle.seal(path, manifest, members, redact=secrets)
    return ending, path.name


def _home_files(after: Snapshot) -> dict[str, str]:
    """Where the regular files below the home lie on the host, by their path there."""
    prefix = f"{HOME}/"
    return {
        path.removeprefix(prefix): entry.host
        for path, entry in after.entries.items()
        if path.startswith(prefix) and entry.type == "file"
    }


def _binary(equipment: Equipment) -> Binary:
    if equipment.agent is not None:
        return equipment.agent.record
    _, origin = equipment.registry.agents[equipment.adapter.id]
    return Binary(version=origin.version, sha256=origin.sha256)


def _member_name(stream: str) -> str:
    return f"agent/{stream}.jsonl"


def _members(
    setting: _Setting, observed: _Observed, streams: Mapping[str, bytes], after: Snapshot
) -> dict[str, bytes | Path]:
    members: dict[str, bytes | Path] = {_member_name(name): data for name, data in streams.items()}
    members["agent/stdout.times"] = "".join(f"{t}\n" for t in observed.outputs["stdout"].times).encode()
    members["agent/stderr.txt"] = observed.outputs["stderr"].path
    members["fs/before.jsonl"], members["fs/after.jsonl"] = snapshot.write_both(setting.before, after)
    for name in ("kernel.jsonl", "shim.jsonl"):
        if (_records(setting.room) / name).exists():
            members[name] = _records(setting.room) / name
    return members | dict(observed.gateway.members)


def _channels(
    equipment: Equipment, observed: _Observed, parsed: Parsed, after: Snapshot, members: Mapping[str, bytes | Path]
) -> dict[Channel, ChannelHealth]:
    finished = observed.finished
    problems = after.problems
    streams_cut = [name for name, captured in observed.outputs.items() if captured.cut]
    agent = ChannelHealth(state="present")
    if parsed.end == "none":
        agent = ChannelHealth(state="truncated", reason="the stream has no end event")
    elif streams_cut:
        agent = ChannelHealth(state="truncated", reason=f"more output than is kept: {', '.join(streams_cut)}")
    return {
        "agent": agent,
        "speech": agent,
        "kernel": ChannelHealth.model_validate(finished.kernel._asdict()),
        "shim": check_shims(equipment, finished, parsed, members),
        "fs": ChannelHealth(state="truncated" if problems else "present", reason="; ".join(problems[:3])),
        "net": ChannelHealth(state="absent", reason="the scenario has no network services"),
    }


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
