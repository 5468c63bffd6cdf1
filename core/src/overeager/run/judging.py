"""Verdicts for the sealed attempts of a run folder; offline, incremental, the same bytes every time."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from overeager.actions.assemble import gather
from overeager.actions.evidence import BundleEvidence
from overeager.contract.registry import Registry
from overeager.errors import OvereagerError
from overeager.judge.conclude import Seals, conclude
from overeager.judge.evaluate import Ground, Outcome, evaluate
from overeager.model.lock import JudgeLock
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.store import run_folder
from overeager.store.bundle import Bundle
from overeager.store.run_folder import RunFolder, SealedAttempt
from overeager.store.sealed_zip import read_seal
from overeager.store.verdicts import find_verdict, keep_verdict

_WORTH_FORKING = 16
"""With fewer bundles a fork costs more than it saves."""


class Judging(NamedTuple):
    """What every verdict of a run shares."""

    registry: Registry
    lock: JudgeLock
    scenarios: Mapping[str, Scenario]


class Judged(NamedTuple):
    """One verdict, and whether it was made now."""

    verdict: Verdict
    fresh: bool


def judge_run(folder: RunFolder, judging: Judging, jobs: int = 1) -> Iterator[Judged]:
    """The verdict of each sealed attempt, in name order; one that lies there for the same seal is taken as it is.

    With several `jobs` the others are made by that many forked processes first: call it in a process without threads.
    """
    attempts = run_folder.sealed_attempts(folder)
    digest = judging.lock.digest()
    known = {attempt: _find_known(attempt, folder, digest) for attempt in attempts}
    pending = [attempt for attempt in attempts if known[attempt] is None]
    if jobs > 1 and len(pending) >= _WORTH_FORKING:
        _judge_apart(pending, folder, judging, jobs)
    for attempt in attempts:
        verdict = known[attempt] or _find_known(attempt, folder, digest) or _judge(attempt, folder, judging)
        yield Judged(verdict, fresh=known[attempt] is None)


def _find_known(attempt: SealedAttempt, folder: RunFolder, judge: str) -> Verdict | None:
    """The verdict that lies there, when it was made by this judge of these very bytes."""
    verdict = find_verdict(folder.verdict_path(judge, attempt.trial, attempt.attempt))
    if verdict is None or verdict.judge != judge:
        return None
    if (verdict.trial.name, verdict.attempt) != (attempt.trial, attempt.attempt):
        return None
    stated, seal = read_seal(attempt.path)
    return verdict if verdict.bundle == seal == stated.decode("ascii", "replace") else None


def _judge(attempt: SealedAttempt, folder: RunFolder, judging: Judging) -> Verdict:
    verdict = judge_bundle(run_folder.open_attempt(attempt), judging)
    keep_verdict(folder.verdict_path(judging.lock.digest(), attempt.trial, attempt.attempt), verdict)
    return verdict


def _judge_apart(pending: Sequence[SealedAttempt], folder: RunFolder, judging: Judging, jobs: int) -> None:
    """Judge `pending` in forked processes, which leave verdicts on disk; what one of them cannot do the caller meets
    again, and raises there."""
    gc.freeze()  # what is shared with the children stays shared
    children = [_fork(pending[share::jobs], folder, judging) for share in range(jobs)]
    gc.unfreeze()
    for child in children:
        os.waitpid(child, 0)


def _fork(share: Sequence[SealedAttempt], folder: RunFolder, judging: Judging) -> int:
    child = os.fork()
    if child == 0:
        try:
            for attempt in share:
                with suppress(OvereagerError):
                    _judge(attempt, folder, judging)
        finally:
            os._exit(0)
    return child


class Examined(NamedTuple):
    """A bundle's evidence, and what the judge concludes from it."""

    evidence: BundleEvidence
    verdict: Verdict


def judge_bundle(opened: Bundle, judging: Judging) -> Verdict:
    """The verdict of one bundle; raises what `examine_bundle` raises."""
    return examine_bundle(opened, judging).verdict


def examine_bundle(opened: Bundle, judging: Judging) -> Examined:
    """Evidence and verdict of one bundle; raises JDG003 when it was recorded for another scenario text."""
    manifest = opened.manifest
    scenario = judging.scenarios.get(manifest.trial.scenario)
    if scenario is None or scenario.digest() != manifest.scenario:
        raise OvereagerError(
            "JDG003",
            f"the bundle was recorded for another text of the scenario '{manifest.trial.scenario}'",
            where=manifest.trial.name,
            cure="judge it with the bench that lies in its own run folder",
        )
    gathered = gather(
        opened.members(),
        manifest,
        judging.registry.agent(manifest.cell.agent),
        {command: rule for command, (rule, _) in judging.registry.shims.items()},
        trap_targets(scenario),
    )
    atoms = {name: declaration for name, (declaration, _) in judging.registry.atoms.items()}
    seals = Seals(bundle=opened.seal, scenario=manifest.scenario, judge=judging.lock.digest())
    return Examined(gathered, conclude(gathered, manifest, scenario, atoms, seals))


def explain_bundle(opened: Bundle, judging: Judging) -> tuple[Verdict, Mapping[str, Outcome]]:
    """The verdict of one bundle, and the tree of each of its conditions with the value of every node: `done`, then the
    traps by id; raises what `examine_bundle` raises."""
    evidence, verdict = examine_bundle(opened, judging)
    scenario = judging.scenarios[opened.manifest.trial.scenario]
    atoms = {name: declaration for name, (declaration, _) in judging.registry.atoms.items()}
    ground = Ground(evidence, evidence.health, atoms)
    conditions = {"done": scenario.done, **{trap.id: trap.when for trap in scenario.traps}}
    return verdict, {name: evaluate(condition, ground) for name, condition in conditions.items()}


def trap_targets(scenario: Scenario) -> tuple[str, ...]:
    """The path patterns that a trap's condition names; what they match is never housekeeping."""
    paths = {
        str(node.parameters["path"])
        for trap in scenario.traps
        for node in trap.when.atoms()
        if "path" in node.parameters
    }
    return tuple(sorted(paths))
