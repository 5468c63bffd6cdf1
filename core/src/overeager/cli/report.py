"""`overeager report`: tables over the verdicts of runs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.judge import PROFILE_HELP
from overeager.cli.output import echo, print_json, print_table, say
from overeager.cli.plugin_options import ALL, BlockPlugins, OnlyPlugins, Plugins
from overeager.errors import OvereagerError
from overeager.judge.profile import FULL

if TYPE_CHECKING:
    from overeager.model.verdict import Verdict
    from overeager.report.across import Ran
    from overeager.report.rows import CellReport
    from overeager.report.tables import Table
    from overeager.report.whole import Report


class Form(StrEnum):
    """How a report is laid out."""

    table = "table"
    markdown = "markdown"
    csv = "csv"
    json = "json"


def report_command(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; each is a cell and gets a table of its own.")],
    profile: Annotated[str, typer.Option(help=PROFILE_HELP)] = FULL.id,
    form: Annotated[Form, typer.Option("--format", help="table, markdown, csv or json.")] = Form.table,
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    table: Annotated[
        str | None,
        typer.Option(
            help="One table alone: joint, rates, paper, pairs, archetypes, axes, interactions, trials (CSV's default), "
            "or over several runs: cells, cell_pairs, generator_seeds."
        ),
    ] = None,
) -> None:
    """Report judged runs; exit 1 where no trial of a run counts. docs/statistics.md defines each number.

    Examples: overeager report runs/today --format markdown > report.md

    overeager report runs/one runs/other --table rates --format csv | cut -d, -f1-8

    overeager report runs/seed-42 runs/seed-7 runs/seed-13 --table generator_seeds
    """
    from overeager.cli.judge import judge_folder
    from overeager.report.whole import build_whole

    plugins = Plugins.read(only, block)
    judged = ((run, judge_folder(run, rejudge=False, profile=profile, plugins=plugins)) for run in runs)
    report = build_whole([read_ran(run, verdicts, profile, plugins) for run, verdicts in judged])
    if as_json or form is Form.json:
        print_json(report)
    elif form is Form.csv:
        print_flat(report, table or "trials")
    elif table is not None:
        print_chosen(report, form, table)
    else:
        print_whole(report, form)
    _refuse_nothing(report)


def _refuse_nothing(report: Report) -> None:
    """Exit 1, and say it on stderr too, where a run says nothing of its agent."""
    empty = [cell for cell in report.cells if not any(row.valid for row in cell.trials)]
    for cell in empty:
        reasons = ", ".join(f"{ending} {count}" for ending, count in cell.invalid.items())
        say(f"{cell.run}: no trial counts ({reasons}), so there is no rate: this says nothing of the agent")
    if empty:
        raise typer.Exit(1)


def read_ran(run: Path, verdicts: list[Verdict], profile: str = FULL.id, plugins: Plugins = ALL) -> Ran:
    """A run folder with its verdicts, its plan, its own copy of the bench, and what its verdicts rest on."""
    from overeager.cli.judge import prepare
    from overeager.report.across import Ran
    from overeager.report.support import find_needs
    from overeager.store import run_folder
    from overeager.store.bench import load_bench

    bench = load_bench(run / "bench")
    folder = run_folder.open_run(run)
    judging, _ = prepare(folder, profile, plugins)
    atoms = {name: declaration for name, (declaration, _) in judging.registry.atoms.items()}
    return Ran(
        name=run.resolve().name,
        bench=bench.manifest.name,
        generator_seed=bench.manifest.generator_seed,
        verdicts=verdicts,
        scenarios=judging.scenarios,
        planned=run_folder.read_plan(folder).trials,
        needs=find_needs(judging.scenarios, atoms, judging.profile),
    )


def print_whole(report: Report, form: Form) -> None:
    """Each run, then what several say together."""
    from overeager.report.across_layout import across_notes, across_tables

    for cell in report.cells:
        print_report(cell, form)
    if len(report.cells) > 1:
        print_page("Runs together", across_tables(report), across_notes(report), form)


def print_chosen(report: Report, form: Form, table: str) -> None:
    """One table of each run that has it, or of all together."""
    from overeager.report.across_layout import across_notes, across_tables
    from overeager.report.flat import ACROSS_TABLES

    _check_name(table)
    if table == "cells" or table in ACROSS_TABLES:
        chosen = tuple(one for one in across_tables(report) if one.name == table)
        print_page("Runs together", chosen, across_notes(report), form)
        return
    for cell in report.cells:
        print_report(cell, form, table)


def print_flat(report: Report, table: str) -> None:
    """One table over all runs as CSV, headings alone when nothing is in it; `cells` is `paper`, which names its run."""
    from overeager.report.flat import flat_table
    from overeager.report.tables import comma_separated

    _check_name(table)
    echo(comma_separated(flat_table(report, "paper" if table == "cells" else table)), nl=False)


def _check_name(table: str) -> None:
    from overeager.report.flat import ACROSS_TABLES, CELL_TABLES

    known = (*CELL_TABLES, "cells", *ACROSS_TABLES)
    if table not in known:
        raise OvereagerError("RPT006", f"there is no table '{table}'", cure=f"one of: {', '.join(known)}")


def report_folder(run: Path, profile: str = FULL.id, plugins: Plugins = ALL) -> CellReport:
    """The report of one run folder, judged first where a verdict is missing."""
    from overeager.cli.judge import judge_folder

    verdicts = judge_folder(run, rejudge=False, profile=profile, plugins=plugins)
    return build_folder_report(run, verdicts, profile, plugins)


def build_folder_report(
    run: Path, verdicts: list[Verdict], profile: str = FULL.id, plugins: Plugins = ALL
) -> CellReport:
    """The report of `verdicts`, which are those of the run."""
    from overeager.report.whole import build_whole

    return build_whole([read_ran(run, verdicts, profile, plugins)]).cells[0]


def print_report(report: CellReport, form: Form = Form.table, table: str | None = None) -> None:
    """One report on stdout; with `table` that table alone."""
    from overeager.report.layout import cell_name, report_notes, report_tables

    tables = tuple(one for one in report_tables(report) if table in (None, one.name))
    title = cell_name(report.cell) if table is None else f"{report.run}: {cell_name(report.cell)}"
    print_page(title, tables, report_notes(report), form)


def print_page(title: str, tables: Sequence[Table], notes: Sequence[str], form: Form) -> None:
    """Tables with their notes on stdout."""
    from overeager.report.tables import markdown

    if form is Form.markdown:
        echo(markdown(title, tables, notes), nl=False)
    else:
        echo(title)
        for table in tables:
            echo()
            print_table(table.headings, table.rows, table.title)
        echo()
        for note in notes:
            echo(note)
