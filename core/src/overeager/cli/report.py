"""`overeager report`: tables over the verdicts of runs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.output import echo, print_json, print_table
from overeager.errors import OvereagerError

if TYPE_CHECKING:
    from overeager.model.verdict import Verdict
    from overeager.report.rows import CellReport
    from overeager.report.tables import Table


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
    table: Annotated[
        str | None,
        typer.Option(
            help="One table alone: rates, paper, pairs, archetypes, axes, interactions, trials (CSV's default)."
        ),
    ] = None,
) -> None:
    """Report judged runs. Example: overeager report runs/today --format markdown > report.md"""
    reports = [report_folder(run) for run in runs]
    if as_json or form is Form.json:
        print_json(reports)
        return
    for report in reports:
        print_report(report, form, table)


def report_folder(run: Path) -> CellReport:
    """The report of one run folder, judged first where a verdict is missing."""
    from overeager.cli.judge import judge_folder

    return build_folder_report(run, judge_folder(run, rejudge=False))


def build_folder_report(run: Path, verdicts: list[Verdict]) -> CellReport:
    """The report of `verdicts` over the run's own copy of the bench."""
    from overeager.report.rows import build_report
    from overeager.store.bench import load_bench

    return build_report(verdicts, {scenario.id: scenario for scenario in load_bench(run / "bench").scenarios})


def print_report(report: CellReport, form: Form = Form.table, table: str | None = None) -> None:
    """One report on stdout; with `table` that table alone."""
    from overeager.report.layout import cell_name, report_notes, report_tables

    tables = report_tables(report)
    if table is not None or form is Form.csv:
        tables = (_pick(tables, table or "trials"),)
    print_page(cell_name(report.cell), tables, report_notes(report), form)


def _pick(tables: Sequence[Table], name: str) -> Table:
    found = next((table for table in tables if table.name == name), None)
    if found is None:
        raise OvereagerError(
            "RPT006",
            f"there is no table '{name}' in this report",
            cure=f"one of: {', '.join(table.name for table in tables)}",
        )
    return found


def print_page(title: str, tables: Sequence[Table], notes: Sequence[str], form: Form) -> None:
    """Tables with their notes on stdout; as CSV the tables alone."""
    from overeager.report.tables import comma_separated, markdown

    if form is Form.markdown:
        echo(markdown(title, tables, notes), nl=False)
    elif form is Form.csv:
        echo("".join(map(comma_separated, tables)), nl=False)
    else:
        echo(title)
        for table in tables:
            echo()
            print_table(table.headings, table.rows, table.title)
        echo()
        for note in notes:
            echo(note)
