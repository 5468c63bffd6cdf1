"""One attempt of one trial, in a process that a worker forked: from an empty room to a sealed bundle."""

from __future__ import annotations

import time

from overeager.contract.effects import Limits, Room, SandboxPlan
from overeager.errors import OvereagerError
from overeager.model.bundle import Timings
from overeager.run import model_side
from overeager.run.beside import Beside, is_needed, open_beside
from overeager.run.capture import Capture
from overeager.run.equipment import GATEWAY_PORT, HOME, HOSTS, WORKSPACE, Equipment
from overeager.run.network_side import NAME_PORTS, NetworkSide, stream_ports
from overeager.run.pool import Job, Outcome
from overeager.run.sealing import Observed, seal_attempt
from overeager.run.setting import Setting, records_of, set_up
from overeager.run.staging import open_stage
from overeager.run.stock import Stock
from overeager.run.tampering import identify
from overeager.run.watch import watch
from overeager.store import room


def execute_trial(equipment: Equipment, stock: Stock, job: Job) -> Outcome:
    """Run the attempt and seal its bundle; a coded error that concerns the whole run comes back in the outcome."""
    try:
        scenario = equipment.scenarios[equipment.plan.trials[job.trial].scenario]
        shared = None if is_needed(scenario.fixture) else equipment.tools.rig.shared
        place = room.open_room(None, equipment.tools.identity, shared)
        try:
            return _execute_in(place, equipment, stock, job)
        finally:
            room.close_room(place)
    except OvereagerError as error:
        return Outcome(job.trial, job.attempt, "infrastructure_error", error.what, error=str(error))


def _execute_in(place: Room, equipment: Equipment, stock: Stock, job: Job) -> Outcome:
    setting = set_up(equipment, stock, equipment.plan.trials[job.trial], job.attempt, place)
    observed = _observe(equipment, stock, setting, job.budget)
    ending, name = seal_attempt(equipment, setting, observed)
    return Outcome(
        job.trial,
        job.attempt,
        ending.name,
        ending.detail,
        name,
        observed.gateway.charged,
        threaded=observed.beside.threaded or observed.network.threaded,
    )


def _observe(equipment: Equipment, stock: Stock, setting: Setting, budget: float | None) -> Observed:
    limits = Limits(seconds=equipment.plan.seconds or setting.subject.scenario.interaction.seconds)
    records = records_of(setting.room)
    services = setting.subject.scenario.fixture.services
    canaries = {**setting.subject.template.world.canaries, **setting.subject.secrets}
    network = NetworkSide(services, canaries, records, setting.began)
    gateway = model_side.open_gateway(equipment, setting.steps, records, setting.began, budget, network)
    beside = open_beside(equipment, setting.subject.scenario, setting.room, records, setting.began)
    plan = _sandbox_plan(equipment, setting, beside, limits)
    stage = open_stage(plan, equipment.tools.rig, records, setting.began, auditor=stock.auditor())
    try:
        started = stage.start()
        gateway.start(started.listeners)
        network.attend([one for one in started.listeners if one.port not in gateway.ports])
        captures = {
            name: Capture(descriptor, records / name, setting.began, limits.stream_bytes)
            for name, descriptor in (("stdout", started.stdout), ("stderr", started.stderr))
        }
        own_output = identify(started.stdout)
        launched = time.monotonic()
        stage.go()
        finished = watch(stage, tuple(captures.values()), setting.room.root, limits, (*beside.attendants, network))
        ended = time.monotonic()
        outputs = {name: capture.finish() for name, capture in captures.items()}
    finally:
        stage.close()
        record = gateway.stop()
        beside.stop()
        network.stop()
    timings = Timings(
        setup=_milliseconds(launched - setting.began),
        agent=_milliseconds(ended - launched),
        teardown=_milliseconds(time.monotonic() - ended),
    )
    return Observed(finished, own_output, outputs, record, beside, network, timings)


def _sandbox_plan(equipment: Equipment, setting: Setting, beside: Beside, limits: Limits) -> SandboxPlan:
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
        argv=(*beside.words, *setting.launch.argv),
        environment=environment,
        cwd=WORKSPACE,
        mounts=(*(equipment.agent.mounts if equipment.agent else ()), *beside.mounts),
        hosts=HOSTS,
        ports=stream_ports(
            setting.subject.scenario.fixture.services, (GATEWAY_PORT,) if equipment.adapter.wire_api else ()
        ),
        datagrams=NAME_PORTS,
        limits=limits,
        shims=equipment.shims,
        kernel=equipment.plan.cell.kernel,
    )


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
