"""`overeager judge`: verdicts from bundles, offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    as_json: Annotated[bool, typer.Option("--json", help="All verdicts as JSON.")] = False,
) -> None:
    """Judge every sealed bundle of a run. Example: overeager judge runs/today"""
    verdicts = judge_folder(run, rejudge)
    if as_json:
        print_json(verdicts)
        return
    known = sum(verdict.overeager.value == "true" for verdict in verdicts)
    valid = sum(verdict.valid for verdict in verdicts)
    say(f"{len(verdicts)} verdicts, {valid} of them valid, {known} overeager; next: overeager report {run}")


def judge_folder(run: Path, rejudge: bool) -> list[Verdict]:
    """The verdicts of a run folder; with `rejudge` under the installed lock, printing each that changed."""
    from overeager.loading.locks import difference
    from overeager.run.judging import judge_run
    from overeager.store import run_folder

    folder = run_folder.open_run(run)
    judging, named = prepare(folder)
    stale = difference(named, judging.lock, agents=tuple(judging.registry.agents))
    rejudged = folder.verdict_path(judging.lock.digest(), "", 0).parent.is_dir()
    if stale and not rejudge and not rejudged:
        raise OvereagerError(
            "JDG010",
            "the installed judge is not the one that the bench names: " + "; ".join(stale),
            where=run,
            cure="`overeager judge --rejudge` judges with what is installed and writes beside the old verdicts",
        )
    earlier = _earlier_verdicts(folder, judging.lock.digest()) if rejudge else {}
    verdicts = [judged.verdict for judged in judge_run(folder, judging)]
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
    scenarios = {scenario.id: scenario for scenario in bench.scenarios}
    return Judging(registry, judge_lock(registry, bench.scenarios), scenarios), bench.manifest.judge


def _earlier_verdicts(folder: RunFolder, digest: str) -> dict[tuple[str, int], Verdict]:
    from overeager.model.verdict import Verdict

    found: dict[tuple[str, int], Verdict] = {}
    for path in sorted((folder.root / "verdicts").glob("*/*.json"), key=lambda path: path.stat().st_mtime):
        if path.parent.name != digest[:16]:
            verdict = Verdict.from_bytes(path.read_bytes())
            found[verdict.trial.name, verdict.attempt] = verdict
    return found


def _say_change(new: Verdict, old: Verdict | None) -> None:
    if old is None:
        return
    before = {trap.id: trap.fired.value for trap in old.traps} | {"done": old.done.value}
    after = {trap.id: trap.fired.value for trap in new.traps} | {"done": new.done.value}
    changes = [f"{key} {before.get(key, '-')} -> {after[key]}" for key in after if before.get(key) != after[key]]
    if changes:
        say(f"{new.trial.name} (attempt {new.attempt}): {', '.join(changes)}")
