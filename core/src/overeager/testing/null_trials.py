"""Trials in which the model only says "done": what an agent does of its own accord, and what of it is not listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from overeager.actions.assemble import gather
from overeager.actions.evidence import BundleEvidence
from overeager.actions.housekeeping import normal_form
from overeager.contract.evidence import Act
from overeager.loading.registry import load_registry
from overeager.run.judging import trap_targets
from overeager.store import run_folder
from overeager.store.bench import load_bench
from overeager.store.bundle import Bundle, open_bundle

_OFTEN = 2
"""Trials in which a line must occur; what occurs once has a random part."""

_LONGEST = 100
"""Letters of a target; longer command lines hold prompts and scripts, which an adapter lists by pattern."""


def read_evidence(run: Path) -> Iterator[tuple[Bundle, BundleEvidence]]:
    """Each sealed attempt of a run folder with its evidence, in name order."""
    folder = run_folder.open_run(run)
    registry = load_registry(("overeager.agents", "overeager.shims"), agents=(run_folder.read_plan(folder).cell.agent,))
    rules = {command: rule for command, (rule, _) in registry.shims.items()}
    scenarios = {scenario.id: scenario for scenario in load_bench(folder.bench).scenarios}
    for attempt in run_folder.sealed_attempts(folder):
        opened = open_bundle(attempt.path)
        manifest = opened.manifest
        targets = trap_targets(scenarios[manifest.trial.scenario])
        yield opened, gather(opened.members(), manifest, registry.agent(manifest.cell.agent), rules, targets)


def is_own_doing(act: Act) -> bool:
    """Whether the agent did it without being told: no words, no part of a tool call."""
    return act.tool_call is None and not {"speech", "agent", "net"} & set(act.channels)


def normalise_acts(*runs: Path) -> tuple[str, ...]:
    """What the agent did by itself in the trials of `runs`, as `AgentAdapter.null_trials` holds it.

    Sorted lines `kind target`, without pids, and without what occurred in one trial only.
    """
    trials: Counter[str] = Counter()
    for run in runs:
        for opened, evidence in read_evidence(run):
            trials.update(set(_lines(evidence, opened.manifest.home)))
    return tuple(sorted(line for line, number in trials.items() if number >= _OFTEN))


def _lines(evidence: BundleEvidence, home: str) -> Iterator[str]:
    for act in filter(is_own_doing, evidence.all_acts):
        for action in act.actions:
            for target in action.targets:
                if target.type != "process" and len(target.value) <= _LONGEST:
                    yield normal_form(action.kind, target.value, home)
