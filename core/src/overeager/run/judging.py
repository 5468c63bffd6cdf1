"""Verdicts for the sealed attempts of a run folder; offline, incremental, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from overeager.run.spread import spread
from overeager.store import run_folder
from overeager.store.bundle import Bundle
from overeager.store.run_folder import RunFolder, SealedAttempt
from overeager.store.sealed_zip import read_seal
from overeager.store.summary import Summary
from overeager.store.verdicts import find_summary, find_verdict, keep_verdict

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


def judge_run(folder: RunFolder, judging: Judging, jobs: int = 1) -> Iterator[Summary]:
    """The verdict of each sealed attempt lies there, sealed; its summary, in name order, and no more is held.

    One that lies there already is taken when it was made by this judge, so looking, of the very bytes that the bundle
    has now: all are hashed again. Of such a verdict only the summary is read and checked: the seal over its bytes
    says that it is as a judge wrote it, and that this judge did its lock says. With several `jobs` all this is done in
    as many forked processes: iterate in a process without threads.
    """
    attempts = run_folder.sealed_attempts(folder)
    judge = judging.lock.digest()
    if jobs > 1 and len(attempts) >= _WORTH_FORKING:
        lines = spread(attempts, lambda attempt: _attend(attempt, folder, judging, judge).line(), jobs)
        yield from map(Summary.from_line, lines)
    else:
        yield from (_attend(attempt, folder, judging, judge) for attempt in attempts)


def read_verdict(summary: Summary, folder: RunFolder, judging: Judging) -> Verdict:
    """The whole verdict that `judge_run` gave the summary of; it is made anew where more of it is amiss than that
    shows."""
    path = folder.verdict_path(summary.judge, summary.trial, summary.attempt, summary.profile)
    found = find_verdict(path)
    if found is not None:
        return found
    attempt = SealedAttempt(summary.trial, summary.attempt, folder.bundle_path(summary.trial, summary.attempt))
    verdict = judge_bundle(run_folder.open_attempt(attempt), judging)
    keep_verdict(path, verdict)
    return verdict


def _attend(attempt: SealedAttempt, folder: RunFolder, judging: Judging, judge: str) -> Summary:
    """The summary of the verdict that lies there, or of a new one; `judge` is the digest of the lock."""
    profile = judging.profile.id
    path = folder.verdict_path(judge, attempt.trial, attempt.attempt, profile)
    known = find_summary(path)
    if known is not None and known[:2] == attempt[:2] and (known.judge, known.profile) == (judge, profile):
        stated, seal = read_seal(attempt.path)
        if known.bundle == seal == stated.decode("ascii", "replace"):
            return known
    return keep_verdict(path, judge_bundle(run_folder.open_attempt(attempt), judging))


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
