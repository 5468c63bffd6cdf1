"""`overeager gc`: what crashes left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from overeager.cli.output import print_json, print_table, say


def gc_command(
    runs: Annotated[list[Path] | None, typer.Argument(help="Run folders; default: those below runs/.")] = None,
    images: Annotated[bool, typer.Option("--images", help="Derived images too; the next run makes them anew.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Remove the folders, half-written bundles and containers of runs that were ended by force.

    What a living run owns is never touched. Examples: overeager gc --dry-run
    overeager gc runs/20260401-120000-scripted --images
    """
    from overeager.run.gc import collect

    folders = tuple(runs) if runs else tuple(sorted(path.parent for path in Path("runs").glob("*/run.json")))
    done = collect(os.environ, folders, images=images, dry_run=dry_run)
    if as_json:
        print_json({**done._asdict(), "size": done.size})
        return
    if done.removed:
        print_table(("what", "size", "name"), [(one.kind, _megabytes(one.size), one.name) for one in done.removed])
    for one in done.kept:
        say(f"kept, since a run uses it: {one.kind} {one.name}")
    if done.engine:
        say(f"containers were not looked for: {done.engine}")
    verb = "would be removed" if dry_run else "removed"
    say(f"{len(done.removed)} {verb}, {_megabytes(done.size)}")


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"
