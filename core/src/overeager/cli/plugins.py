"""`overeager list-plugins`: what is installed, and with `--check` whether it works."""

from __future__ import annotations

from typing import Annotated

import typer

from overeager.cli.output import print_json, print_table

_FAULTS = ("duplicate", "broken", "misfit")
_HEADINGS = ("kind", "name", "distribution", "version", "status", "reason")


def list_plugins_command(
    check: Annotated[
        bool, typer.Option("--check", help="Import each plugin and hold it against its contract.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when a plugin has a fault.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only-plugin", help="Leave out all others; a name, kind:name or distribution.")
    ] = None,
    block: Annotated[list[str] | None, typer.Option("--block-plugin", help="Leave this one out.")] = None,
) -> None:
    """List the plugins, one line an entry point. Example: overeager list-plugins --check --strict"""
    from overeager.loading.registry import plugin_rows

    rows = plugin_rows(check, only=only, block=block)
    if as_json:
        print_json(rows)
    else:
        print_table(_HEADINGS, rows)
    if strict and any(row.status in _FAULTS for row in rows):
        raise typer.Exit(1)
