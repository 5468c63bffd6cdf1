"""What all trials of one scenario share, worked out before the process of a trial is forked."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from overeager.errors import OvereagerError
from overeager.model.scenario import Scenario
from overeager.run.equipment import WORKSPACE_NAME, Equipment
from overeager.run.pool import Job
from overeager.run.stimulus import SharedStimulus, digest_shared
from overeager.store.fixture import Template, open_template

_KEPT = 4
"""Subjects that a worker holds: a plan keeps the trials of a scenario together, and memory must not grow with it."""


class Subject(NamedTuple):
    """A scenario, ready to be tried."""

    scenario: Scenario
    digest: str
    template: Template
    stimulus: SharedStimulus


class Subjects:
    """The subjects of a run, each made when it is first asked for; a few of them are kept."""

    def __init__(self, equipment: Equipment) -> None:
        self._equipment = equipment
        self._kept: dict[str, Subject] = {}

    def get(self, scenario_id: str) -> Subject:
        """The subject; raises STO006, STO010 or STO011 when its fixture cannot be built."""
        subject = self._kept.pop(scenario_id, None) or self._make(self._equipment.scenarios[scenario_id])
        if len(self._kept) >= _KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[scenario_id] = subject
        return subject

    def expect(self, job: Job) -> None:
        """Have the subject of a job ready; where that fails, the trial's own process meets the error and reports it."""
        with suppress(OvereagerError):
            self.get(self._equipment.plan.trials[job.trial].scenario)

    def _make(self, scenario: Scenario) -> Subject:
        template = open_template(scenario, WORKSPACE_NAME, self._equipment.tools.shelf)
        return Subject(scenario, scenario.digest(), template, digest_shared(self._equipment, scenario))
