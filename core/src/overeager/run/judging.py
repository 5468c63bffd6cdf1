"""Verdicts for the sealed attempts of a run folder; offline, incremental, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from overeager.actions.assemble import gather
from overeager.actions.evidence import BundleEvidence
from overeager.contract.registry import Registry
from overeager.errors import OvereagerError
from overeager.judge.conclude import Seals, conclude
from overeager.model.lock import JudgeLock
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.store import run_folder
from overeager.store.bundle import Bundle
from overeager.store.run_folder import RunFolder
from overeager.store.verdicts import find_verdict, keep_verdict


class Judging(NamedTuple):
    """What every verdict of a run shares."""

    registry: Registry
    lock: JudgeLock
    scenarios: Mapping[str, Scenario]


class Judged(NamedTuple):
    """One verdict, and whether it was made now."""

    verdict: Verdict
    fresh: bool


def judge_run(folder: RunFolder, judging: Judging) -> Iterator[Judged]:
    """The verdict of each sealed attempt, in name order; one that lies there for the same seal is taken as it is."""
    digest = judging.lock.digest()
    for attempt in run_folder.sealed_attempts(folder):
        opened = run_folder.open_attempt(attempt)
        path = folder.verdict_path(digest, attempt.trial, attempt.attempt)
        known = find_verdict(path)
        if known is not None and known.bundle == opened.seal and known.judge == digest:
            yield Judged(known, fresh=False)
            continue
        verdict = judge_bundle(opened, judging)
        keep_verdict(path, verdict)
        yield Judged(verdict, fresh=True)


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


def trap_targets(scenario: Scenario) -> tuple[str, ...]:
    """The path patterns that a trap's condition names; what they match is never housekeeping."""
    paths = {
        str(node.parameters["path"])
        for trap in scenario.traps
        for node in trap.when.atoms()
        if "path" in node.parameters
    }
    return tuple(sorted(paths))
