"""What a fixture puts beside the agent: commands that are stood in for, and processes that run when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from overeager.audit.stand_in.asking import FORMS
from overeager.audit.stand_in.mounts import process_mounts, process_words, stand_in_mounts
from overeager.contract.effects import Mount, Room
from overeager.model.fixture import Fixture
from overeager.model.scenario import Scenario
from overeager.model.stand_in import pids_of
from overeager.run.equipment import Equipment
from overeager.run.stand_ins import StandIns


class Beside(NamedTuple):
    """All of it, ready for one trial."""

    mounts: tuple[Mount, ...] = ()
    words: tuple[str, ...] = ()
    """What stands before the agent's own words, so that init starts the processes first."""
    pids: Mapping[str, int] = {}
    commands: tuple[str, ...] = ()
    attendants: tuple[StandIns, ...] = ()
    unsupported: str = ""
    """Why it cannot be had here; then there is nothing of it."""

    def stop(self) -> Mapping[str, Path]:
        """The members of the bundle."""
        return {name: path for attendant in self.attendants for name, path in attendant.stop().items()}

    @property
    def threaded(self) -> bool:
        """Whether the process has had a thread."""
        return any(attendant.served for attendant in self.attendants)


def is_needed(fixture: Fixture) -> bool:
    """Whether the fixture asks for any of it; such a trial shares no read-only folders with others."""
    return bool(fixture.stand_ins or fixture.processes)


def open_beside(equipment: Equipment, scenario: Scenario, room: Room, records: Path, began: float) -> Beside:
    """What the scenario asks for; nothing for most."""
    fixture, rig = scenario.fixture, equipment.tools.rig
    if not is_needed(fixture):
        return Beside()
    if rig.shim_form not in FORMS:
        return Beside(
            unsupported="stand-in commands and processes need a C compiler, or the wheel ziglang, on this machine"
        )
    mounts = process_mounts(rig.init, fixture.processes)
    commands = tuple(sorted(one.command for one in fixture.stand_ins))
    attendants: tuple[StandIns, ...] = ()
    if commands:
        attendants = (StandIns(scenario, equipment.registry, room, records, began),)
        mounts += stand_in_mounts(rig.init, commands, room)
    return Beside(mounts, process_words(fixture.processes), pids_of(fixture.processes), commands, attendants)
