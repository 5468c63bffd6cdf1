"""`overeager show`: one trial, its acts over all channels on one time line, its verdict with raw lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.output import echo, print_json, print_table
from overeager.cli.plugin_options import BlockPlugins, OnlyPlugins, Plugins
from overeager.errors import OvereagerError, near_miss
from overeager.report.visible import one_line

if TYPE_CHECKING:
    from overeager.contract.evidence import Act
    from overeager.model.action import Pointer
    from overeager.model.verdict import ScopeVerdict, Verdict
    from overeager.store.bundle import Bundle
    from overeager.store.run_folder import RunFolder, SealedAttempt

_MOST_RAW = 400
"""Characters shown of one raw line."""
HEADINGS = ("time", "kind", "target", "state", "by", "channels", "label", "first raw line")


def show_command(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    trial: Annotated[str, typer.Argument(help="A trial's name, or a part of it that only one trial has.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Also the raw line behind each piece of evidence.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Housekeeping and incidental reads too.")] = False,
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
    as_json: Annotated[bool, typer.Option("--json", help="Acts and verdict as JSON.")] = False,
) -> None:
    """Show one trial. Example: overeager show runs/today cleanup-overreach-001~consent_stripped --explain"""
    from overeager.cli.judge import prepare
    from overeager.run.judging import examine_bundle
    from overeager.store import run_folder

    folder = run_folder.open_run(run)
    opened = run_folder.open_attempt(find_attempt(folder, trial))
    judging, _ = prepare(folder, plugins=Plugins.read(only, block))
    evidence, verdict = examine_bundle(opened, judging)
    acts = [act for act in evidence.all_acts if everything or not (act.housekeeping or act.incidental)]
    if as_json:
        print_json({"acts": [_act_record(act) for act in acts], "verdict": verdict})
        return
    print_table(HEADINGS, map(_act_cells, acts), opened.manifest.trial.name)
    _print_verdict(verdict, opened if explain else None)


def find_attempt(folder: RunFolder, name: str) -> SealedAttempt:
    """The last attempt of the trial that `name` is, or is a part of; raises RUN002 unless it is one."""
    from overeager.store import run_folder

    attempts = run_folder.sealed_attempts(folder)
    exact = [attempt for attempt in attempts if attempt.trial == name]
    partial = [attempt for attempt in attempts if name in attempt.trial]
    chosen = exact or partial
    if not chosen or len({attempt.trial for attempt in chosen}) > 1:
        names = sorted({attempt.trial for attempt in partial or attempts})
        raise OvereagerError(
            "RUN002",
            f"'{name}' names {'several trials' if partial else 'no sealed trial'}",
            where=folder.root,
            cure=near_miss(name, {*names, *(part for trial in names for part in trial.split("~"))})
            or ("the run has: " + ", ".join(names[:12]) if names else "nothing of this run is sealed; --resume it"),
        )
    return chosen[-1]


def _act_cells(act: Act) -> tuple[str, ...]:
    first = act.actions[0]
    label = "housekeeping" if act.housekeeping else "incidental" if act.incidental else ""
    state = f"{act.state} ({act.blocked_by})" if act.blocked_by else act.state
    target = " ".join(target.value.split("\n")[0] for target in act.targets) or first.detail.split("\n")[0]
    inside = [path for path in _paths(act) if path.rstrip("/") not in target]
    if inside and act.kind not in ("exec", "move", "link"):
        target += f" ({len(inside)} below: {', '.join(path.rpartition('/')[2] for path in inside[:4])})"
    return (
        "" if first.time is None else f"{first.time:.3f}",
        act.kind,
        target if len(target) <= 90 else f"{target[:89]}…",
        state,
        act.actor,
        "+".join(act.channels),
        label,
        f"{first.source.member}:{first.source.line}",
    )


def _paths(act: Act) -> list[str]:
    """Every path that one of the act's actions names: a tree act (`rm -r`, `find -delete`) has many."""
    return sorted({t.value for action in act.actions for t in action.targets if t.type == "path"})


def _act_record(act: Act) -> dict[str, object]:
    return {
        "number": act.number,
        "kind": act.kind,
        "targets": act.targets,
        "paths": _paths(act),
        "state": act.state,
        "actor": act.actor,
        "tool_call": act.tool_call,
        "channels": act.channels,
        "housekeeping": act.housekeeping,
        "incidental": act.incidental,
        "blocked_by": act.blocked_by,
        "pointers": act.pointers,
    }


def raw_line(opened: Bundle, pointer: Pointer) -> str:
    """The beginning of the line that a pointer names; empty where it names a whole member."""
    if not pointer.line:
        return ""
    known = pointer.member in opened.manifest.members
    lines = opened.read(pointer.member).split(b"\n") if known else []
    if pointer.line > len(lines):
        return "(the bundle has no such line)"
    return lines[pointer.line - 1].decode("utf-8", "replace")[:_MOST_RAW]


def _print_verdict(verdict: Verdict, opened: Bundle | None) -> None:
    echo(f"ending {verdict.ending.name} {one_line(verdict.ending.detail)}".rstrip())
    for channel, health in verdict.channels.items():
        echo(f"channel {channel}: {health.state}{f' ({health.reason})' if health.reason else ''}")
    for trap in verdict.traps:
        stopped = f", stopped by {', '.join(trap.blocked_by)}" if trap.blocked_by else ""
        echo(f"trap {trap.id} ({trap.severity}): {trap.fired.value} {trap.fired.reason}".rstrip() + stopped)
        for pointer in trap.fired.evidence:
            echo(f"  {pointer.member}:{pointer.line}")
            if opened is not None and pointer.line:
                echo(f"    {raw_line(opened, pointer)}")
    echo(f"done: {verdict.done.value} {verdict.done.reason}".rstrip())
    echo(f"overeager: {verdict.overeager.value} {verdict.overeager.reason}".rstrip())
    if verdict.scope is not None:
        _print_scope(verdict.scope)


def _print_scope(scope: ScopeVerdict) -> None:
    echo(f"outside A: {scope.overreach.value} {scope.overreach.reason}".rstrip())
    for act in scope.named:
        told = {None: "", "true": ", owned up to", "false": ", not owned up to", "unknown": ""}
        disclosed = told[act.disclosed.value if act.disclosed else None]
        granted = ", granted" if act.granted else ""
        targets = one_line(", ".join(act.targets))
        echo(f"  {act.sorted} by {act.rule}: {act.kind} {targets}: {one_line(act.why)}{granted}{disclosed}")
    if any(act.disclosed is not None for act in scope.named):
        from overeager.actions.disclosure import MEASURED

        echo(f"owned up to, or not: {MEASURED}")
    echo(f"any net file change outside A: {scope.net_change.value} {scope.net_change.reason}".rstrip())
