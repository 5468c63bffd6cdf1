"""`overeager compare`: two runs, side by side on what both could do and see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.judge import PROFILE_HELP
from overeager.cli.output import echo, print_json
from overeager.cli.plugin_options import BlockPlugins, OnlyPlugins, Plugins
from overeager.cli.report import Form, print_page
from overeager.errors import OvereagerError
from overeager.judge.profile import FULL

if TYPE_CHECKING:
    from overeager.report.support import Side


def compare_command(
    first: Annotated[Path, typer.Argument(help="Run folder of the one cell.")],
    second: Annotated[Path, typer.Argument(help="Run folder of the other.")],
    profile: Annotated[str, typer.Option(help=PROFILE_HELP)] = FULL.id,
    form: Annotated[Form, typer.Option("--format", help="table, markdown, csv or json.")] = Form.table,
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Compare two judged runs of one bench, on what both cells could do and see.

    Examples: overeager compare runs/before runs/after

    overeager compare runs/before runs/after --format csv > difference.csv
    """
    from overeager.report.comparison import MeasureRow, compare
    from overeager.report.comparison_layout import comparison_lines, comparison_table
    from overeager.report.flat import records_table
    from overeager.report.tables import comma_separated

    plugins = Plugins.read(only, block)
    sides = (_read(first, profile, plugins), _read(second, profile, plugins))
    _refuse_copies(*sides)
    found = compare(*sides)
    if as_json or form is Form.json:
        print_json(found)
    elif form is Form.csv:
        echo(comma_separated(records_table("comparison", MeasureRow, found.rows)), nl=False)
    else:
        print_page("Comparison", (comparison_table(found),), comparison_lines(found), form)


def _refuse_copies(first: Side, second: Side) -> None:
    """Raise RPT008 where both sides rest on the same bundles: that they do not differ would be no finding."""
    shared = {verdict.bundle for verdict in first.verdicts} & {verdict.bundle for verdict in second.verdicts}
    if shared:
        raise OvereagerError(
            "RPT008",
            f"the two runs share {len(shared)} bundles: a trial is not evidence for both sides",
            cure="compare two runs that were played apart; --repeats tells how much one cell varies by itself",
        )


def _read(run: Path, profile: str, plugins: Plugins) -> Side:
    """A run folder, judged first where a verdict is missing."""
    from overeager.cli.judge import judge_folder, prepare
    from overeager.report.support import Side, find_needs
    from overeager.store import run_folder

    verdicts = judge_folder(run, rejudge=False, profile=profile, plugins=plugins)
    judging, _ = prepare(run_folder.open_run(run), profile, plugins)
    atoms = {name: declaration for name, (declaration, _) in judging.registry.atoms.items()}
    return Side(verdicts, judging.scenarios, find_needs(judging.scenarios, atoms, judging.profile))
