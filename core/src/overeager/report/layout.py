"""A cell's report laid out as tables and notes."""

from __future__ import annotations

import re

from overeager.model.bundle import Cell
from overeager.report.measures import ArchetypeRow, RateRow, SeverityRow
from overeager.report.rows import CellReport, TrialRow
from overeager.report.tables import Table, interval, percent

SCRIPTED_NOTE = (
    "Scripted rows: a persona played fixed steps. They prove what the audit sees and what the agent's own gates stop; "
    "they tell nothing about any model."
)
_FEW = 3
_DOUBTFUL = 5
"""Expected counts below it make a chi-square doubtful."""


def report_tables(report: CellReport) -> tuple[Table, ...]:
    """Every table that has a row, the headline first and the trials last."""
    tables = (
        _rates(report),
        _paper(report),
        _pairs(report),
        _archetypes(report),
        _axes(report),
        _interactions(report),
        _trials(report),
    )
    return tuple(table for table in tables if table.rows)


def report_notes(report: CellReport) -> list[str]:
    """The joint table, what does not count and why, and what must not be read into the rows."""
    lines = [] if report.rates else ["no trial counts, so there is no rate: this says nothing of the agent"]
    lines += [f"done {key.replace('/', ', overeager ')}: {count}" for key, count in report.joint.items()]
    lines += [f"does not count, {ending}: {count}" for ending, count in report.invalid.items()]
    lines += [f"trap unknown, {reason}: {count}" for reason, count in report.unknown.items()]
    lines.append(f"judge lock {report.judge[:16]}")
    return [*lines, SCRIPTED_NOTE] if report.scripted else lines


def cell_name(cell: Cell) -> str:
    """The cell in one line."""
    kernel = "" if cell.kernel else ", kernel channel off"
    return f"{cell.agent} {cell.version}, mode {cell.mode}, upstream {cell.upstream}, model {cell.model}{kernel}"


def rate_cells(row: RateRow) -> tuple[str, ...]:
    """One rate; never one over nothing."""
    if row.share is None:
        return (_group(row), row.measure, f"no rate: 0 of {row.unknown} are known", "-", "-", "-", "-", "-", "-")
    return (
        _group(row),
        row.measure,
        percent(row.share),
        interval(row.clustered_low, row.clustered_high),
        f"{row.hits}/{row.known}",
        str(row.seeds),
        interval(row.low, row.high),
        percent(row.macro),
        f"{row.unknown}: {interval(row.bound_low, row.bound_high)}" if row.unknown else "0",
    )


def _rates(report: CellReport) -> Table:
    headings = (
        "trials", "measure", "share", "95 %, clustered", "count", "seed scenarios", "95 %, Wilson", "archetype-macro",
        "unknown: bounds",
    )  # fmt: skip
    return Table("rates", "Rates", headings, tuple(map(rate_cells, report.rates)))


def _paper(report: CellReport) -> Table:
    """One line a group, as the paper's tables have it: rates with Wilson intervals, severity as a sum of weights."""
    rates = {(row.variant, row.persona, row.measure): row for row in report.rates}
    headings = ("trials", "n", "overeager", "95 %", "outside A", "severity", "critical", "completion", "safety gate")
    rows = []
    for one in report.severity:
        overeager, outside, done, gate = (
            rates[one.variant, one.persona, name] for name in ("overeager", "outside A", "done", "safety gate")
        )
        rows.append(
            (
                _group(one),
                str(one.trials),
                percent(overeager.share),
                interval(overeager.low, overeager.high),
                percent(outside.share),
                f"{one.total} ({one.mean:.2f} a trial)",
                str(one.critical),
                percent(done.share),
                percent(gate.share),
            )
        )
    return Table("paper", "As in the paper", headings, tuple(rows))


def _pairs(report: CellReport) -> Table:
    headings = (
        "measure", "stripped less kept", "95 %", "p, sign flips", "scenarios", "seed scenarios", "only kept",
        "only stripped", "p, McNemar", "p, margins",
    )  # fmt: skip
    rows = tuple(
        (
            row.measure,
            percent(row.difference),
            interval(row.low, row.high),
            f"{row.p:.2g}",
            str(row.scenarios),
            str(row.seeds),
            str(row.only_kept),
            str(row.only_stripped),
            f"{row.mcnemar_p:.2g}",
            f"{row.margins_p:.2g}",
        )
        for row in report.pairs
    )
    return Table("pairs", "Consent kept against stripped", headings, rows)


def _archetypes(report: CellReport) -> Table:
    rows = tuple(
        (row.archetype, _group(row), percent(row.share), f"{row.hits}/{row.known}", str(row.unknown))
        for row in report.archetypes
    )
    headings = ("archetype", "trials", "overeager", "count", "unknown")
    return Table("archetypes", "Overeager by archetype", headings, rows)


def _axes(report: CellReport) -> Table:
    rows = tuple(
        (
            row.axis,
            row.variant.removeprefix("consent_"),
            ", ".join(f"{level} {hits}/{known}" for level, (hits, known) in row.levels.items()),
            percent(row.spread),
            "-" if row.p is None else f"{row.p:.2g}{_doubt(row.smallest_expected)}",
        )
        for row in report.axes
    )
    return Table("axes", "Axes of mutation", ("axis", "variant", "overeager by level", "spread", "p, chi-square"), rows)


def _doubt(smallest: float | None) -> str:
    return " (small counts)" if smallest is not None and smallest < _DOUBTFUL else ""


def _interactions(report: CellReport) -> Table:
    rows = tuple(
        (
            " × ".join(row.axes),
            row.variant.removeprefix("consent_"),
            percent(row.spread),
            percent(row.single),
            str(row.strata),
        )
        for row in report.interactions
    )
    headings = ("axes", "variant", "spread over strata", "larger spread alone", "strata")
    return Table("interactions", "Pairs of axes", headings, rows)


def _trials(report: CellReport) -> Table:
    headings = (
        "scenario", "asked", "variant", "persona", "ending", "done", "traps fired", "severity", "outside A", "granted",
        "stopped", "said", "not seen",
    )  # fmt: skip
    return Table("trials", "Trials", headings, tuple(map(trial_cells, report.trials)))


def trial_cells(row: TrialRow) -> tuple[str, ...]:
    """One trial."""
    return (
        row.scenario,
        row.asked,
        row.variant.removeprefix("consent_"),
        row.persona or "-",
        row.ending if row.valid else f"{row.ending} (does not count)",
        _yes_no(row.done) if row.valid else "-",
        ", ".join(row.fired) or _nothing_fired(row),
        str(row.severity) if row.valid or row.fired else "-",
        _few(row.outside) or _nothing_outside(row),
        _few(row.granted) or "-",
        ", ".join(row.blocked) or "-",
        ", ".join(row.said) or "-",
        "; ".join(row.unknown) or "-",
    )


def _nothing_fired(row: TrialRow) -> str:
    """A trial that does not count shows no good behaviour either."""
    if not row.valid:
        return "-"
    return "none" if row.overeager == "false" else "unknown"


def _nothing_outside(row: TrialRow) -> str:
    if not row.valid:
        return "-"
    return "none" if row.scope == "false" else "unknown"


def _few(items: tuple[str, ...]) -> str:
    """The first three, shortened to their last part, and how many more there are."""
    shown = ", ".join(re.sub(r" \S*/", " ", item) for item in items[:_FEW])
    return f"{shown} and {len(items) - _FEW} more" if len(items) > _FEW else shown


def _yes_no(value: str) -> str:
    return {"true": "yes", "false": "no", "unknown": "unknown"}[value]


def _group(row: RateRow | SeverityRow | ArchetypeRow) -> str:
    return f"{row.variant.removeprefix('consent_')} {row.persona}".strip()
