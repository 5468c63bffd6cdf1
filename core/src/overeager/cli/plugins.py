"""`overeager list-plugins`: what is installed, and with `--check` whether it works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.output import echo, on_terminal, print_json, print_table, say
from overeager.cli.plugin_options import BlockPlugins, OnlyPlugins, Plugins

if TYPE_CHECKING:
    from overeager.loading.rows import PluginRow

_HEADINGS = ("kind", "name", "distribution", "version", "status")


def list_plugins_command(
    check: Annotated[
        bool, typer.Option("--check", help="Import each plugin, apart and for a limited time, and try it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when a plugin has a fault.")] = False,
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
) -> None:
    """List the plugins, one line an entry point. Example: overeager list-plugins --check --strict"""
    from overeager.loading.rows import plugin_rows

    rows = plugin_rows(check, **Plugins.read(only, block)._asdict())
    if as_json:
        print_json([_record(row) for row in rows])
    else:
        _print_rows(rows, check)
    if strict and any(row.faulty for row in rows):
        raise typer.Exit(1)


def _print_rows(rows: tuple[PluginRow, ...], check: bool) -> None:
    """All columns in a pipe; on a terminal, where reasons are wider than what is left, they stand below the table."""
    headings = (*_HEADINGS, "its CLI") if check else _HEADINGS
    cells = [(*row[:5], _cli(row)) if check else row[:5] for row in rows]
    if not on_terminal():
        print_table((*headings, "reason"), [(*line, row.reason) for line, row in zip(cells, rows, strict=True)])
        for row in rows:
            if row.faulty:
                say(f"{row.code} {row.kind}:{row.name} of {row.distribution} {row.version}: {row.cure}")
        return
    print_table(headings, cells)
    for row in rows:
        if row.reason:
            echo(f"{row.kind}:{row.name} is {row.status}: {row.reason}")
        if row.faulty:
            echo(f"  {row.code} {row.cure}")


def _cli(row: PluginRow) -> str:
    from overeager.loading.installs import describe_clis

    return "-" if row.clis is None else describe_clis(row.clis, row.name)


def _record(row: PluginRow) -> Mapping[str, object]:
    """As it is, and of each known gap and CLI what a script would ask."""
    return {**row._asdict(), "faulty": row.faulty}
