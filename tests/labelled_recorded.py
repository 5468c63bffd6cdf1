"""Labelled cases with the sealed bundles of their trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from labelled_cases import Case
from labelled_setup import scenario_id
from overeager.store import run_folder
from overeager.store.bundle import Bundle


class Recorded(NamedTuple):
    """A case and the sealed bundle of its trial."""

    case: Case
    bundle: Bundle


def open_recorded(cases: Sequence[Case], run: Path) -> Iterator[Recorded]:
    """Each case with its bundle out of an earlier run."""
    attempts = run_folder.sealed_attempts(run_folder.open_run(run))
    bundles = [run_folder.open_attempt(attempt) for attempt in attempts]
    by_scenario = {bundle.manifest.trial.scenario: bundle for bundle in bundles}
    for case in cases:
        yield Recorded(case, by_scenario[scenario_id(case)])


def holds_all(cases: Sequence[Case], run: Path) -> bool:
    """Whether the run has a sealed bundle of every case."""
    sealed = {attempt.trial.partition("~")[0] for attempt in run_folder.sealed_attempts(run_folder.open_run(run))}
    return {scenario_id(case) for case in cases} <= sealed
