"""`overeager judge`: verdicts from bundles, offline."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.bench import check_bench
from overeager.cli.explain import explain_trial
from overeager.cli.invocation import program
from overeager.cli.output import print_json, say
from overeager.errors import OvereagerError

if TYPE_CHECKING:
    from overeager.model.lock import JudgeLock
    from overeager.model.verdict import Verdict
    from overeager.run.judging import Judging
    from overeager.store.run_folder import RunFolder


def judge_command(
    run: Annotated[Path, typer.Argument(help="A run folder, as `overeager run --out` wrote it.")],
    rejudge: Annotated[
        bool,
        typer.Option("--rejudge", help="Judge with what is installed, beside the old verdicts; print what changed."),
    ] = False,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=0, help="Processes; 0 = as many as there are cores.")] = 0,
    explain: Annotated[
        str | None,
        typer.Option(metavar="TRIAL", help="Only this trial: each condition as a tree, with values and raw lines."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All verdicts as JSON.")] = False,
) -> None:
    """Judge every sealed bundle of a run. Example: overeager judge runs/today"""
    if explain is not None:
        explain_trial(run, explain, as_json)
        return
    verdicts = judge_folder(run, rejudge, jobs)
    if as_json:
        print_json(verdicts)
        return
    say(f"{_count(verdicts)}; next: {shlex.join([*program(), 'report', str(run)])}")


def _count(verdicts: list[Verdict]) -> str:
    """What the verdicts come to; never a number of good trials where none counts."""
    valid = [verdict for verdict in verdicts if verdict.valid]
    if not valid:
        return f"{len(verdicts)} verdicts; no trial counts, so nothing can be said of the agent"
    known = sum(verdict.overeager.value == "true" for verdict in valid)
    return f"{len(verdicts)} verdicts, {len(valid)} of them valid; of these {known} overeager"


def judge_folder(run: Path, rejudge: bool, jobs: int = 0) -> list[Verdict]:
    """The verdicts of a run folder; with `rejudge` under the installed lock, printing each that changed.

    `jobs` processes judge; 0 = one for each core.
    """
    from overeager.loading.locks import difference
    from overeager.run.judging import judge_run
    from overeager.store import run_folder
    from overeager.store.verdicts import read_others

    folder = run_folder.open_run(run)
    judging, named = prepare(folder)
    if not run_folder.sealed_attempts(folder):
        raise OvereagerError(
            "JDG011",
            "no trial of this run is sealed, so there is nothing to judge",
            where=run,
            cure="go on with it: give `overeager run` the options that it began with, and --resume",
        )
    stale = difference(named, judging.lock, agents=tuple(judging.registry.agents))
    rejudged = folder.verdict_path(judging.lock.digest(), "", 0).parent.is_dir()
    if stale and not rejudge and not rejudged:
        command = shlex.join([*program(), "judge", str(run), "--rejudge"])
        raise OvereagerError(
            "JDG010",
            "the installed judge is not the one that the bench names: " + "; ".join(stale),
            where=run,
            cure=f"`{command}` judges with what is installed and writes beside the old verdicts",
        )
    earlier = read_others(folder, judging.lock.digest()) if rejudge else {}
    verdicts = [judged.verdict for judged in judge_run(folder, judging, jobs or os.cpu_count() or 1)]
    for verdict in verdicts:
        _say_change(verdict, earlier.get((verdict.trial.name, verdict.attempt)))
    return verdicts


def prepare(folder: RunFolder) -> tuple[Judging, JudgeLock]:
    """What judging needs, and the lock that the run's own copy of the bench names."""
    from overeager.loading.locks import judge_lock
    from overeager.loading.registry import load_registry
    from overeager.run.judging import Judging
    from overeager.store import run_folder
    from overeager.store.bench import load_bench

    bench = load_bench(folder.bench)
    agent = run_folder.read_plan(folder).cell.agent
    registry = load_registry(("overeager.agents", "overeager.shims", "overeager.atoms"), agents=(agent,))
    check_bench(bench, folder.bench, registry)
    scenarios = {scenario.id: scenario for scenario in bench.scenarios}
    return Judging(registry, judge_lock(registry, bench.scenarios), scenarios), bench.manifest.judge


def _say_change(new: Verdict, old: Verdict | None) -> None:
    if old is None:
        return
    before = {trap.id: trap.fired.value for trap in old.traps} | {"done": old.done.value}
    after = {trap.id: trap.fired.value for trap in new.traps} | {"done": new.done.value}
    changes = [f"{key} {before.get(key, '-')} -> {after[key]}" for key in after if before.get(key) != after[key]]
    if changes:
        say(f"{new.trial.name} (attempt {new.attempt}): {', '.join(changes)}")
