"""Verdicts for the sealed attempts of a run folder; offline, incremental, the same bytes every time."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from overeager.actions.assemble import gather
from overeager.actions.evidence import BundleEvidence
from overeager.contract.registry import Registry
from overeager.errors import OvereagerError
from overeager.judge.conclude import Seals, conclude
from overeager.judge.evaluate import Ground, Outcome, evaluate
from overeager.judge.profile import FULL, Profile
from overeager.model.lock import JudgeLock
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.run.patience import attributed
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
    profile: Profile = FULL
    patience: float = 600
    """Seconds for one bundle: a predicate that never ends stops the judge, and is named."""


class Judged(NamedTuple):
    """One verdict, and whether it was made now."""

    verdict: Verdict
    fresh: bool


def judge_run(folder: RunFolder, judging: Judging, jobs: int = 1) -> Iterator[Judged]:
    """The verdict of each sealed attempt, in name order; one that lies there for the same seal is taken as it is.

    With several `jobs` the others are made by that many forked processes first: call it in a process without threads.
    """
    attempts = run_folder.sealed_attempts(folder)
    digest, profile = judging.lock.digest(), judging.profile.id
    known = _find_all_known(attempts, folder, digest, profile)
    pending = [attempt for attempt in attempts if attempt not in known]
    made: Mapping[SealedAttempt, Verdict] = {}
    if jobs > 1 and len(pending) >= _WORTH_FORKING:
        _judge_apart(pending, folder, judging, jobs)
        made = _find_all_known(pending, folder, digest, profile)
    for attempt in attempts:
        verdict = known.get(attempt) or made.get(attempt) or _judge(attempt, folder, judging)
        yield Judged(verdict, fresh=attempt not in known)


def _find_all_known(
    attempts: Sequence[SealedAttempt], folder: RunFolder, judge: str, profile: str
) -> dict[SealedAttempt, Verdict]:
    """The verdicts that lie there, by attempt.

    Verdicts hold no cycles, and a collector that goes through thousands of them as each comes in doubles the cost.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        found = ((attempt, _find_known(attempt, folder, judge, profile)) for attempt in attempts)
        return {attempt: verdict for attempt, verdict in found if verdict is not None}
    finally:
        if collecting:
            gc.enable()


def _find_known(attempt: SealedAttempt, folder: RunFolder, judge: str, profile: str) -> Verdict | None:
    """The verdict that lies there, when it was made by this judge, so looking, of these very bytes."""
    verdict = find_verdict(folder.verdict_path(judge, attempt.trial, attempt.attempt, profile))
    if verdict is None or (verdict.judge, verdict.profile) != (judge, profile):
        return None
    if (verdict.trial.name, verdict.attempt) != (attempt.trial, attempt.attempt):
        return None
    stated, seal = read_seal(attempt.path)
    return verdict if verdict.bundle == seal == stated.decode("ascii", "replace") else None


def _judge(attempt: SealedAttempt, folder: RunFolder, judging: Judging) -> Verdict:
    verdict = judge_bundle(run_folder.open_attempt(attempt), judging)
    path = folder.verdict_path(judging.lock.digest(), attempt.trial, attempt.attempt, judging.profile.id)
    keep_verdict(path, verdict)
    return verdict


def _judge_apart(pending: Sequence[SealedAttempt], folder: RunFolder, judging: Judging, jobs: int) -> None:
    """Judge `pending` in forked processes, which leave verdicts on disk; what one of them cannot do the caller meets
    again, and raises there."""
    gc.freeze()  # what is shared with the children stays shared
    children = [_fork(pending[share::jobs], folder, judging) for share in range(jobs)]
    gc.unfreeze()
    try:
        for child in children:
            os.waitpid(child, 0)
    except BaseException:
        _stop(children)
        raise


def _stop(children: Sequence[int]) -> None:
    """End what still judges, as Ctrl-C does: no draft is left, and none goes on when the caller has ended."""
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGINT)
    for child in children:
        with suppress(ChildProcessError):
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
    """Evidence and verdict of one bundle; raises JDG003 when it was recorded for another scenario text, JDG014 when the
    judge's patience ends, and names the bundle in what else is raised."""
    with attributed(opened, judging.patience):
        return _examine(opened, judging)


def _examine(opened: Bundle, judging: Judging) -> Examined:
    manifest = opened.manifest
    scenario = judging.scenarios.get(manifest.trial.scenario)
    if scenario is None or scenario.digest() != manifest.scenario:
        raise OvereagerError(
            "JDG003",
            f"the bundle was recorded for another text of the scenario '{manifest.trial.scenario}'",
            where=opened.path,
            cure="judge it with the bench that lies in its own run folder",
        )
    gathered = gather(
        opened.members(),
        manifest,
        judging.registry.agent(manifest.cell.agent),
        {command: rule for command, (rule, _) in judging.registry.shims.items()},
        trap_targets(scenario),
        judging.profile.channels,
    )
    atoms = {name: declaration for name, (declaration, _) in judging.registry.atoms.items()}
    seals = Seals(bundle=opened.seal, scenario=manifest.scenario, judge=judging.lock.digest())
    return Examined(gathered, conclude(gathered, manifest, scenario, atoms, seals, judging.profile))


def explain_bundle(opened: Bundle, judging: Judging) -> tuple[Verdict, Mapping[str, Outcome]]:
    """The verdict of one bundle, and the tree of each of its conditions with the value of every node: `done`, then the
    traps by id, and of one that was tried, or of which that is not known, also `ID, attempted`; raises what
    `examine_bundle` raises."""
    evidence, verdict = examine_bundle(opened, judging)
    scenario = judging.scenarios[opened.manifest.trial.scenario]
    atoms = {name: declaration for name, (declaration, _) in judging.registry.atoms.items()}
    ground = Ground(evidence, evidence.health, atoms, judging.profile)
    trees = {"done": evaluate(scenario.done, ground)}
    for trap, told in zip(scenario.traps, verdict.traps, strict=True):
        trees[trap.id] = evaluate(trap.when, ground)
        if told.attempted.value != trees[trap.id].judgement.value:
            trees[f"{trap.id}, attempted"] = evaluate(trap.when, ground, "attempted")
    return verdict, trees


def trap_targets(scenario: Scenario) -> tuple[str, ...]:
    """The path patterns that a trap's condition names; what they match is never housekeeping."""
    paths = {
        str(node.parameters["path"])
        for trap in scenario.traps
        for node in trap.when.atoms()
        if "path" in node.parameters
    }
    return tuple(sorted(paths))
