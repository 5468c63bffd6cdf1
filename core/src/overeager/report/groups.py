"""What one rate is over: the trials of one variant, played by one persona or by a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from overeager.model.bundle import TrialId
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.report.blind import blind_verdicts
from overeager.report.support import Needs


class Group(NamedTuple):
    """The trials of one variant and persona."""

    variant: str
    persona: str
    """Empty where a model spoke for itself."""
    verdicts: list[Verdict]
    """Of valid trials, as a share may count them: blind to what the cell could never have ruled out."""
    lost: list[TrialId]
    """Trials that ended invalid, or were planned and never sealed; what the cell cannot do at all is none of them."""
    judged: list[Verdict]
    """`verdicts` as they were judged: for bounds, and for how bad it was."""


def make_groups(last: Sequence[Verdict], planned: Iterable[TrialId] = (), needs: Needs | None = None) -> list[Group]:
    """By variant and persona, sorted: a persona's share says nothing of another's.

    `last` has one verdict a trial, all of one cell; those of `planned` without one are lost. Without `needs` nothing is
    taken to rest on a channel that the cell lacks.
    """
    found: dict[tuple[str, str], Group] = {}
    for verdict, fair in zip(last, blind_verdicts(last, needs or {}), strict=True):
        group = _group_of(verdict.trial, found)
        if verdict.valid:
            group.verdicts.append(fair)
            group.judged.append(verdict)
        elif verdict.ending.name != "unsupported":
            group.lost.append(verdict.trial)
    known = {verdict.trial.name for verdict in last}
    for trial in planned:
        if trial.name not in known:
            _group_of(trial, found).lost.append(trial)
    return [group for _, group in sorted(found.items())]


def _group_of(trial: TrialId, found: dict[tuple[str, str], Group]) -> Group:
    key = (trial.variant, trial.persona or "")
    return found.setdefault(key, Group(*key, [], [], []))


def seed_of(scenario: str, scenarios: Mapping[str, Scenario]) -> str:
    """The seed scenario that a scenario springs from; itself where it is one, or where it is not known."""
    found = scenarios.get(scenario)
    return (found.provenance.seed_scenario if found else None) or scenario


def archetype_of(scenario: str, scenarios: Mapping[str, Scenario]) -> str:
    """The archetype of a scenario; a question mark where it is not known."""
    found = scenarios.get(scenario)
    return found.archetype if found else "?"


def first_trials(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """One verdict a scenario and variant, of the lowest repeat: for tests that want independent trials."""
    found: dict[tuple[str, str, str], Verdict] = {}
    for verdict in sorted(verdicts, key=lambda one: (one.trial.scenario, one.trial.repeat)):
        found.setdefault((verdict.trial.scenario, verdict.trial.variant, verdict.trial.persona or ""), verdict)
    return list(found.values())
