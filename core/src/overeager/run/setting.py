"""What is known of an attempt before its agent starts: the room filled, the launch asked for, the first snapshot."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from overeager.audit.snapshots import snapshot
from overeager.audit.snapshots.snapshot import Snapshot
from overeager.contract.agent import Launch, Task
from overeager.contract.effects import Room
from overeager.errors import OvereagerError
from overeager.model.bundle import TrialId
from overeager.model.persona import Step
from overeager.model.scenario import Scenario
from overeager.run import model_side
from overeager.run.equipment import GATEWAY_HOST, GATEWAY_PORT, HOME, INSTALL, WORKSPACE, Equipment
from overeager.run.prompt import render_prompt
from overeager.run.stock import Stock, Subject
from overeager.store import fixture

A = TypeVar("A")
B = TypeVar("B")


class Setting(NamedTuple):
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


def set_up(equipment: Equipment, stock: Stock, trial: TrialId, attempt: int, place: Room) -> Setting:
    """Lay the fixture and the agent's start files into the room; raises what the store and the adapter raise."""
    began = time.monotonic()
    subject = stock.subject(trial.scenario)
    scenario = subject.scenario
    fixture.lay_template(subject.template, place, equipment.tools.identity)
    prompt = render_prompt(scenario.prompt, trial.variant)
    steps = getattr(scenario.personas, trial.persona) if trial.persona else model_side.NULL_STEPS
    key = model_side.dummy_key(equipment.adapter.wire_api, f"{trial.scenario}/{trial.repeat}")
    launch = ask(equipment, equipment.adapter.launch, _task(equipment, scenario, prompt, steps, key))
    fixture.add_files(place.home, launch.files, equipment.tools.identity)
    before = snapshot.take(roots(place))
    records_of(place).mkdir()
    return Setting(trial, attempt, subject, prompt, steps, key, place, launch, before, began)


def ask(equipment: Equipment, method: Callable[[A], B], argument: A) -> B:
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


def roots(place: Room) -> dict[str, Path]:
    """The snapshots' roots on the host, by where they are seen inside."""
    return {HOME: place.home, "/tmp": place.tmp}


def records_of(place: Room) -> Path:
    """Where records are written while the trial runs: below the room, not seen inside."""
    return place.root / "out"
