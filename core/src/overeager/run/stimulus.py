"""The stimulus lock: digests of all that the agent meets."""

from __future__ import annotations

from typing import NamedTuple

from overeager import canonical
from overeager.contract.agent import Launch
from overeager.model.lock import StimulusLock
from overeager.model.scenario import Scenario
from overeager.run.equipment import HOSTS, Equipment
from overeager.run.staging import recipe_of
from overeager.run.stand_ins import stimulus_of


class SharedStimulus(NamedTuple):
    """The digests that all trials of a scenario share in one run."""

    interaction: str
    fixture: str
    shims: str
    sandbox: str
    system: str
    agent: str


def digest_shared(equipment: Equipment, scenario: Scenario) -> SharedStimulus:
    """The digests of one scenario under this equipment."""
    tools = equipment.tools
    return SharedStimulus(
        interaction=scenario.interaction.digest(),
        fixture=scenario.fixture.digest(),
        shims=canonical.digest(
            [tools.shim_sha256, list(tools.commands), equipment.shims, *_stand_ins(equipment, scenario)]
        ),
        sandbox=canonical.digest([recipe_of(tools.rig, HOSTS), equipment.plan.cell.kernel]),
        system=tools.system_sha256,
        agent=equipment.agent.record.sha256 if equipment.agent else _own_code(equipment),
    )


def _stand_ins(equipment: Equipment, scenario: Scenario) -> list[dict[str, str]]:
    """Who answers for the scenario's commands; nothing where nobody does."""
    return [stimulus_of(scenario, equipment.registry)] if scenario.fixture.stand_ins else []


def lock_stimulus(shared: SharedStimulus, prompt: str, launch: Launch, key: str) -> StimulusLock:
    """The lock of one trial; the dummy key, which differs by trial, is blanked."""
    return StimulusLock(
        prompt=canonical.sha256(prompt.encode()), launch=_digest_launch(launch, prompt, key), **shared._asdict()
    )


def _digest_launch(launch: Launch, prompt: str, key: str) -> str:
    """Without the prompt, which has a digest of its own, so that a consent pair shares its launch."""
    value = [list(launch.argv), dict(launch.environment), dict(launch.files)]
    text = canonical.dump(value).decode()
    for secret in (key, canonical.dump(prompt).decode()[1:-1]):
        if secret:
            text = text.replace(secret, "")
    return canonical.sha256(text.encode())


def _own_code(equipment: Equipment) -> str:
    _, origin = equipment.registry.agents[equipment.adapter.id]
    return origin.sha256
