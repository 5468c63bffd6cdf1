"""`overeager judge`: verdicts from bundles, offline."""

from __future__ import annotations

import gc
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from overeager.cli.bench import READERS, check_bench
from overeager.cli.explain import explain_trial
from overeager.cli.invocation import program
from overeager.cli.output import print_json_list, say
from overeager.cli.plugin_options import ALL, BlockPlugins, OnlyPlugins, Plugins
from overeager.errors import OvereagerError
from overeager.judge.profile import FULL

if TYPE_CHECKING:
    from overeager.model.lock import JudgeLock
    from overeager.model.verdict import Verdict
    from overeager.run.judging import Judging
    from overeager.store.run_folder import RunFolder
    from overeager.store.summary import Summary

SECONDS = 600.0
"""For one bundle."""
PROFILE_HELP = "Through which channels to look: full, or paper = shims, the agent's stream and snapshots alone."


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
    profile: Annotated[str, typer.Option(help=PROFILE_HELP)] = FULL.id,
    patience: Annotated[float, typer.Option(min=1, help="Seconds after which a bundle is given up.")] = SECONDS,
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
    as_json: Annotated[bool, typer.Option("--json", help="All verdicts as JSON.")] = False,
) -> None:
    """Judge every sealed bundle of a run; exit 1 where no trial counts. Example: overeager judge runs/today"""
    plugins = Plugins.read(only, block)
    if explain is not None:
        explain_trial(run, explain, as_json, profile, plugins)
        return
    judged = _judge(run, rejudge, jobs, profile, plugins, patience)
    verdicts = judged.summaries
    if as_json:
        print_json_list(judged.read())
    else:
        chosen = [] if profile == FULL.id else ["--profile", profile]
        say(f"{_count(verdicts)}; next: {shlex.join([*program(), 'report', str(run), *chosen, *plugins.words])}")
    if not any(verdict.valid for verdict in verdicts):
        raise typer.Exit(1)


def _count(verdicts: Sequence[Summary]) -> str:
    """What the verdicts come to; never a number of good trials where none counts."""
    valid = [verdict for verdict in verdicts if verdict.valid]
    if not valid:
        return f"{len(verdicts)} verdicts; no trial counts, so nothing can be said of the agent"
    known = sum(verdict.overeager == "true" for verdict in valid)
    return f"{len(verdicts)} verdicts, {len(valid)} of them valid; of these {known} overeager"


class _Judged(NamedTuple):
    """A run of which every sealed attempt has its verdict on disk."""

    folder: RunFolder
    judging: Judging
    summaries: tuple[Summary, ...]

    def read(self) -> Iterator[Verdict]:
        """The whole verdicts, one after the other."""
        from overeager.run.judging import read_verdict

        return (read_verdict(summary, self.folder, self.judging) for summary in self.summaries)


def judge_folder(
    run: Path,
    rejudge: bool,
    jobs: int = 0,
    profile: str = FULL.id,
    plugins: Plugins = ALL,
    patience: float = SECONDS,
) -> list[Verdict]:
    """The verdicts of a run folder; with `rejudge` under the installed lock, printing each that changed.

    `jobs` processes judge; 0 = one for each core. Those of another `profile` than `full` lie beside the usual ones.
    """
    judged = _judge(run, rejudge, jobs, profile, plugins, patience)
    with uncollected():
        return list(judged.read())


@contextmanager
def uncollected() -> Iterator[None]:
    """Within the block no cycles are looked for: verdicts hold none, and to go through thousands of them as each comes
    in doubles the cost."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _judge(run: Path, rejudge: bool, jobs: int, profile: str, plugins: Plugins, patience: float) -> _Judged:
    from overeager.loading.locks import difference
    from overeager.run.roll import check_evidence, check_membership, count_unsealed
    from overeager.store import run_folder
    from overeager.store.verdicts import read_others

    folder = run_folder.open_run(run)
    judging, named = prepare(folder, profile, plugins)
    attempts = run_folder.sealed_attempts(folder)
    if not attempts:
        raise OvereagerError(
            "JDG011",
            "no trial of this run is sealed, so there is nothing to judge",
            where=run,
            cure="go on with it: give `overeager run` the options that it began with, and --resume",
        )
    stale = difference(named, judging.lock, agents=tuple(judging.registry.agents))
    rejudged = folder.verdict_folder(judging.lock.digest(), profile).is_dir()
    if stale and not rejudge and not rejudged:
        chosen = [] if profile == FULL.id else ["--profile", profile]
        command = shlex.join([*program(), "judge", str(run), "--rejudge", *chosen, *plugins.words])
        raise OvereagerError(
            "JDG010",
            "the installed judge is not the one that the bench names: " + "; ".join(stale),
            where=run,
            cure=f"`{command}` judges with what is installed and writes beside the old verdicts",
        )
    check_evidence(folder, attempts)
    earlier = read_others(folder, judging.lock.digest(), profile) if rejudge else {}
    judging = judging._replace(patience=patience)
    verdicts = _judge_all(folder, judging, jobs or os.cpu_count() or 1)
    plan = run_folder.read_plan(folder)
    check_membership(folder, plan, verdicts)
    if unsealed := count_unsealed(plan, attempts):
        say(f"{run}: {unsealed} of {len(plan.trials)} planned trials are not sealed; nothing is known of them")
    for verdict in verdicts:
        _say_change(verdict, earlier.get((verdict.trial, verdict.attempt)))
    return _Judged(folder, judging, verdicts)


def _judge_all(folder: RunFolder, judging: Judging, jobs: int) -> tuple[Summary, ...]:
    from overeager.run.judging import judge_run

    try:
        return tuple(judge_run(folder, judging, jobs))
    except KeyboardInterrupt:
        say("stopped; the verdicts that were made are kept, and the same command goes on with the rest")
        raise


def prepare(folder: RunFolder, profile: str = FULL.id, plugins: Plugins = ALL) -> tuple[Judging, JudgeLock]:
    """What judging needs, and the lock that the run's own copy of the bench names; raises JDG020."""
    from overeager.judge.profile import find_profile
    from overeager.loading.locks import judge_lock
    from overeager.loading.registry import load_registry
    from overeager.run.judging import Judging
    from overeager.store import run_folder
    from overeager.store.bench import load_bench

    found = find_profile(profile)
    bench = load_bench(folder.bench)
    agent = run_folder.read_plan(folder).cell.agent
    registry = load_registry(READERS, agents=(agent,), **plugins._asdict())
    check_bench(bench, folder.bench, registry)
    scenarios = {scenario.id: scenario for scenario in bench.scenarios}
    lock = judge_lock(registry, bench.scenarios)
    return Judging(registry, lock, scenarios, found), bench.manifest.judge


def _say_change(new: Summary, old: Summary | None) -> None:
    if old is None:
        return
    before, after = dict(old.values), dict(new.values)
    changes = [f"{key} {before.get(key, '-')} -> {after[key]}" for key in after if before.get(key) != after[key]]
    if changes:
        say(f"{new.trial} (attempt {new.attempt}): {', '.join(changes)}")
