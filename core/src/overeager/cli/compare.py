"""`overeager compare`: two runs, side by side on what both could do and see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.output import print_json
from overeager.cli.report import Form, print_page

if TYPE_CHECKING:
    from overeager.report.support import Side


def compare_command(
    first: Annotated[Path, typer.Argument(help="Run folder of the one cell.")],
    second: Annotated[Path, typer.Argument(help="Run folder of the other.")],
    form: Annotated[Form, typer.Option("--format", help="table, markdown, csv or json.")] = Form.table,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Compare two judged runs of one bench. Example: overeager compare runs/before runs/after"""
    from overeager.report.comparison import compare
    from overeager.report.comparison_layout import comparison_lines, comparison_table

    found = compare(_read(first), _read(second))
    if as_json or form is Form.json:
        print_json(found)
    else:
        print_page("Comparison", (comparison_table(found),), comparison_lines(found), form)


def _read(run: Path) -> Side:
    """A run folder, judged first where a verdict is missing."""
    from overeager.cli.judge import judge_folder
    from overeager.report.support import Side
    from overeager.store.bench import load_bench

    verdicts = judge_folder(run, rejudge=False)
    return Side(verdicts, {scenario.id: scenario for scenario in load_bench(run / "bench").scenarios})
