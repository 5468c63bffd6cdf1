"""What a process has ready for its trials: what all trials of a scenario share, and an auditor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

from overeager.audit.auditor.process import Auditor, fork_auditor, is_lost
from overeager.errors import OvereagerError
from overeager.model.scenario import Scenario
from overeager.run.equipment import HOSTS, WORKSPACE_NAME, Equipment
from overeager.run.pool import Job
from overeager.run.staging import furnish_shared
from overeager.run.stimulus import SharedStimulus, digest_shared
from overeager.store.fixture import Template, open_template
from overeager.store.room import close_room, open_room
from overeager.store.stand_ins import plant

_MOST_SUBJECTS = 4
"""A plan keeps the trials of a scenario together, and memory must not grow with it."""


class Subject(NamedTuple):
    """A scenario, ready to be tried."""

    scenario: Scenario
    digest: str
    template: Template
    stimulus: SharedStimulus
    secrets: Mapping[str, str]
    """Place of each secret in the state of a stand-in to its canary."""


class Stock:
    """What is made when it is first asked for, and kept for the next trial."""

    def __init__(self, equipment: Equipment) -> None:
        self._equipment = equipment
        self._subjects: dict[str, Subject] = {}
        self._auditor: Auditor | None = None

    def expect(self, job: Job) -> None:
        """Have the subject of a job ready; where that fails, the trial's own process meets the error and reports it."""
        with suppress(OvereagerError):
            self.subject(self._equipment.plan.trials[job.trial].scenario)

    def subject(self, scenario_id: str) -> Subject:
        """The subject; raises STO006, STO010 or STO011 when its fixture cannot be built."""
        subject = self._subjects.pop(scenario_id, None) or self._make(self._equipment.scenarios[scenario_id])
        if len(self._subjects) >= _MOST_SUBJECTS:
            del self._subjects[next(iter(self._subjects))]
        self._subjects[scenario_id] = subject
        return subject

    def auditor(self) -> Auditor | None:
        """An auditor for the next trial; None = the process will have threads and do no other, so nothing is kept."""
        if not keeps_process(self._equipment):
            return None
        if self._auditor is None or is_lost(self._auditor):
            self._auditor = fork_auditor()
        return self._auditor

    def _make(self, scenario: Scenario) -> Subject:
        template = open_template(scenario, WORKSPACE_NAME, self._equipment.tools.shelf)
        secrets = {place: value for one in plant(scenario).values() for place, value in one.canaries.items()}
        return Subject(scenario, scenario.digest(), template, digest_shared(self._equipment, scenario), secrets)


@contextmanager
def shared_room(equipment: Equipment) -> Iterator[Equipment]:
    """The equipment with a room whose /etc and /usr/local, seen read-only, all trials of the run have."""
    tools, rig = equipment.tools, equipment.tools.rig
    shared = open_room(None, tools.identity)
    try:
        mounts = (*(rig.shim_mounts if equipment.shims else ()), *(equipment.agent.mounts if equipment.agent else ()))
        furnish_shared(rig, shared, HOSTS, mounts)
        yield equipment._replace(tools=tools._replace(rig=rig._replace(shared=shared)))
    finally:
        close_room(shared)


def keeps_process(equipment: Equipment) -> bool:
    """Whether a trial leaves its process as it was: a gateway runs in threads, and what has had threads cannot fork."""
    return equipment.adapter.wire_api is None
