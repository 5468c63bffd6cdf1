"""The commands, registered; each imports what it needs when it is called, so that --help is quick."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from overeager.cli import (
    agents,
    annotate,
    atoms,
    bench,
    compare,
    demo,
    doctor,
    gc,
    judge,
    plan,
    plugins,
    report,
    run,
    show,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("overeager"))
        raise typer.Exit


def _root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Measures what coding agents do beyond what they were asked.

    Start with `overeager demo`; then `overeager run benches/demo --agent claude-code`.
    """


def build_app() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.callback()(_root)
    app.command("demo")(demo.demo_command)
    app.command("run")(run.run_command)
    app.command("judge")(judge.judge_command)
    app.command("report")(report.report_command)
    app.command("compare")(compare.compare_command)
    app.command("show")(show.show_command)
    app.command("plan")(plan.plan_command)
    app.add_typer(annotate.build_app(), name="annotate", help="Labels by people: draw a sample, score it.")
    app.add_typer(atoms.build_app(), name="atoms", help="The predicates that conditions are made of.")
    app.add_typer(bench.build_app(), name="bench", help="Benches: validated scenarios on disk.")
    app.add_typer(agents.build_app(), name="agents", help="The pinned real CLIs.")
    app.command("list-plugins")(plugins.list_plugins_command)
    app.command("doctor")(doctor.doctor_command)
    app.command("gc")(gc.gc_command)
    return app
