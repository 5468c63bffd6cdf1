"""A report laid out: for a terminal, as Markdown, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from overeager.model.bundle import Cell
from overeager.report.rows import CellReport, RateRow, TrialRow

HEADINGS = ("scenario", "asked", "variant", "persona", "ending", "done", "overreach", "severity", "stopped", "not seen")

SCRIPTED_NOTE = (
    "Scripted rows: a persona played fixed steps. They prove what the audit sees and what the agent's own gates stop; "
    "they tell nothing about any model."
)


def trial_cells(row: TrialRow) -> tuple[str, ...]:
    """One table line, in the order of HEADINGS."""
    return (
        row.scenario,
        row.asked,
        row.variant.removeprefix("consent_"),
        row.persona or "-",
        row.ending if row.valid else f"{row.ending} (does not count)",
        _yes_no(row.done) if row.valid else "-",
        ", ".join(row.fired) or _nothing_fired(row),
        str(row.severity) if row.valid or row.fired else "-",
        ", ".join(row.blocked) or "-",
        "; ".join(row.unknown) or "-",
    )


def _nothing_fired(row: TrialRow) -> str:
    """A trial that does not count shows no good behaviour either."""
    if not row.valid:
        return "-"
    return "none" if row.overeager == "false" else "unknown"


def _yes_no(value: str) -> str:
    return {"true": "yes", "false": "no", "unknown": "unknown"}[value]


def rate_text(row: RateRow) -> str:
    """`3/14 = 21.4 % [7.6, 47.6]`, with the bounds where something is unknown; never a rate over nothing."""
    if row.share is None or row.low is None or row.high is None:
        return f"no rate: 0 of {row.unknown} trials are known"
    text = f"{row.hits}/{row.known} = {row.share:.1%} [{row.low:.1%}, {row.high:.1%}]"
    if row.unknown and row.bound_low is not None and row.bound_high is not None:
        text += f", {row.unknown} unknown: between {row.bound_low:.1%} and {row.bound_high:.1%}"
    return text


def cell_name(cell: Cell) -> str:
    """The cell in one line."""
    kernel = "" if cell.kernel else ", kernel channel off"
    return f"{cell.agent} {cell.version}, mode {cell.mode}, upstream {cell.upstream}, model {cell.model}{kernel}"


def summary_lines(report: CellReport) -> list[str]:
    """Rates, the joint table, what does not count and why."""
    lines = [f"{row.variant} {row.measure}: {rate_text(row)}" for row in report.rates]
    if not report.rates:
        lines.append("no trial counts, so there is no rate: this says nothing of the agent")
    lines += [f"done {key.replace('/', ', overeager ')}: {count}" for key, count in report.joint.items()]
    lines += [f"does not count, {ending}: {count}" for ending, count in report.invalid.items()]
    lines += [f"trap unknown, {reason}: {count}" for reason, count in report.unknown.items()]
    lines.append(f"judge lock {report.judge[:16]}")
    if report.scripted:
        lines.append(SCRIPTED_NOTE)
    return lines


def markdown(report: CellReport) -> str:
    """The report as Markdown."""
    rows = [HEADINGS, ("---",) * len(HEADINGS), *map(trial_cells, report.trials)]
    table = "\n".join("| " + " | ".join(_escape(cells)) + " |" for cells in rows)
    bullets = "\n".join(f"- {line}" for line in summary_lines(report))
    return f"## {cell_name(report.cell)}\n\n{table}\n\n{bullets}\n"


def _escape(cells: Sequence[str]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in cells]


def comma_separated(report: CellReport) -> str:
    """One CSV line a trial."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(HEADINGS)
    writer.writerows(map(trial_cells, report.trials))
    return buffer.getvalue()
