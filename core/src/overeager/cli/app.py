"""The commands, registered; each imports what it needs when it is called, so that --help is quick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, NamedTuple

import typer


class _Command(NamedTuple):
    """A command, or a group of them."""

    module: str
    """Below `overeager.cli`."""
    function: str
    group: str = ""
    """What a group says of itself; its function gives the group."""


COMMANDS: Mapping[str, _Command] = {
    "demo": _Command("demo", "demo_command"),
    "run": _Command("run", "run_command"),
    "judge": _Command("judge", "judge_command"),
    "report": _Command("report", "report_command"),
    "compare": _Command("compare", "compare_command"),
    "show": _Command("show", "show_command"),
    "plan": _Command("plan", "plan_command"),
    "annotate": _Command("annotate", "build_app", "Labels by people: draw a sample, score it."),
    "atoms": _Command("atoms", "build_app", "The predicates that conditions are made of."),
    "bench": _Command("bench", "build_app", "Benches: validated scenarios on disk."),
    "agents": _Command("agents", "build_app", "The pinned real CLIs."),
    "list-plugins": _Command("plugins", "list_plugins_command"),
    "check-plugin": _Command("check_plugin", "check_plugin_command"),
    "new-plugin": _Command("new_plugin", "new_plugin_command"),
    "doctor": _Command("doctor", "doctor_command"),
    "gc": _Command("gc", "gc_command"),
}
"""In the order of the help page."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

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


def build_app(arguments: Sequence[str] = ()) -> typer.Typer:
    """The command line; only the one command where `arguments` begin with its name, since each costs milliseconds."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.callback()(_root)
    named = [word for word in arguments[:1] if word in COMMANDS]
    for name in named or COMMANDS:
        _register(app, name, COMMANDS[name])
    return app


def _register(app: typer.Typer, name: str, command: _Command) -> None:
    function = getattr(import_module(f"overeager.cli.{command.module}"), command.function)
    if command.group:
        app.add_typer(function(), name=name, help=command.group)
    else:
        app.command(name)(function)
