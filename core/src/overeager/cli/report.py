"""`overeager report`: tables over the verdicts of runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.output import print_json, print_table

if TYPE_CHECKING:
    from overeager.model.verdict import Verdict
    from overeager.report.rows import CellReport


class Form(StrEnum):
    """How a report is laid out."""

    table = "table"
    markdown = "markdown"
    csv = "csv"
    json = "json"


def report_command(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; each is a cell and gets a table of its own.")],
    form: Annotated[Form, typer.Option("--format", help="table, markdown, csv or json.")] = Form.table,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Report judged runs. Example: overeager report runs/today --format markdown > report.md"""
    reports = [report_folder(run) for run in runs]
    if as_json or form is Form.json:
        print_json(reports)
        return
    for report in reports:
        print_report(report, form)


def report_folder(run: Path) -> CellReport:
    """The report of one run folder, judged first where a verdict is missing."""
    from overeager.cli.judge import judge_folder

    return build_folder_report(run, judge_folder(run, rejudge=False))


def build_folder_report(run: Path, verdicts: list[Verdict]) -> CellReport:
    """The report of `verdicts` over the run's own copy of the bench."""
    from overeager.report.rows import build_report
    from overeager.store.bench import load_bench

    return build_report(verdicts, {scenario.id: scenario for scenario in load_bench(run / "bench").scenarios})


def print_report(report: CellReport, form: Form = Form.table) -> None:
    """One report on stdout."""
    from overeager.report import layout

    if form is Form.markdown:
        typer.echo(layout.markdown(report), nl=False)
    elif form is Form.csv:
        typer.echo(layout.comma_separated(report), nl=False)
    else:
        print_table(layout.HEADINGS, map(layout.trial_cells, report.trials), layout.cell_name(report.cell))
        for line in layout.summary_lines(report):
            typer.echo(line)
