"""`overeager doctor`: what works here, what does not, and the cure."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from overeager.cli.output import print_json, print_table


def doctor_command(
    sandbox: Annotated[
        str, typer.Option(help="What trials are to run in: bubblewrap, docker or docker:IMAGE.")
    ] = "bubblewrap",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Try each mechanism for real; exit 2 when trials cannot run here."""
    from overeager.run.doctor import examine
    from overeager.run.sandbox_choice import read_sandbox
    from overeager.run.tools import open_shelf

    checks = examine(open_shelf(os.environ).root, read_sandbox(sandbox, None))
    if as_json:
        print_json(checks)
    else:
        marks = {True: "ok", False: "fails", None: "-"}
        print_table(("check", "", "found", "cure"), [(c.name, marks[c.ok], c.found, c.cure or "") for c in checks])
    if any(check.ok is False for check in checks):
        raise typer.Exit(2)
