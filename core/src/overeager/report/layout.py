"""A cell's report laid out as tables and notes."""

from __future__ import annotations

from overeager.actions.disclosure import MEASURED
from overeager.model.bundle import Cell
from overeager.report.archetypes import ArchetypeRow
from overeager.report.axes import AxisRow, InteractionRow
from overeager.report.consent import PairRow
from overeager.report.joint import JointRow
from overeager.report.measures import RateRow
from overeager.report.paper import PaperRow
from overeager.report.profiles import profile_notes
from overeager.report.rows import CellReport
from overeager.report.tables import Table, group_name, interval, percent
from overeager.report.trial_layout import TRIAL_HEADINGS, trial_cells, yes_no

SCRIPTED_NOTE = (
    "Scripted rows: a persona played fixed steps. They prove what the audit sees and what the agent's own gates stop; "
    "they tell nothing about any model."
)
_DOUBTFUL = 5
"""Expected counts below it make a chi-square doubtful."""


def report_tables(report: CellReport) -> tuple[Table, ...]:
    """Every table that has a row, the headline first and the trials last; no rates where no trial counts."""
    axes = tuple(map(axis_cells, report.axes))
    pairs_of_axes = tuple(map(interaction_cells, report.interactions))
    tables = (
        Table("joint", "Done × overeager", JOINT_HEADINGS, tuple(map(joint_cells, report.joint))),
        Table("rates", "Rates", RATE_HEADINGS, tuple(map(rate_cells, report.rates))),
        Table("paper", "As in the paper", PAPER_HEADINGS, tuple(map(paper_cells, report.paper))),
        Table("pairs", "Consent kept against stripped", PAIR_HEADINGS, tuple(map(pair_cells, report.pairs))),
        Table("archetypes", "By archetype", ARCHETYPE_HEADINGS, tuple(map(archetype_cells, report.archetypes))),
        Table("axes", "Axes of mutation", AXIS_HEADINGS, axes),
        Table("interactions", "Pairs of axes", INTERACTION_HEADINGS, pairs_of_axes),
        Table("trials", "Trials", TRIAL_HEADINGS, tuple(map(trial_cells, report.trials))),
    )  # fmt: skip
    empty = () if any(row.valid for row in report.trials) else ("rates", "paper")
    return tuple(table for table in tables if table.rows and table.name not in empty)


def report_notes(report: CellReport) -> list[str]:
    """What does not count and why, and what must not be read into the rows."""
    counted = any(row.valid for row in report.trials)
    lines = [] if counted else ["no trial counts, so there is no rate: this says nothing of the agent"]
    lines += [f"does not count, {ending}: {count}" for ending, count in report.invalid.items()]
    lines += [f"planned and never sealed: {report.unsealed}"] if report.unsealed else []
    lines += [f"trap unknown, {reason}: {count}" for reason, count in report.unknown.items()]
    lines += [*lacking_notes(report), *_interaction_notes(report)]
    lines += [f"owned up to: {MEASURED}"] if any("exploratory" in row.measure for row in report.rates) else []
    lines += [*profile_notes(report.profile), f"judge lock {report.judge[:16]}"]
    return [*lines, SCRIPTED_NOTE] if report.scripted else lines


def lacking_notes(report: CellReport) -> list[str]:
    """Which channels the cell lacks, and how many values no share counts for it."""
    if not report.lacking:
        return []
    counts: dict[str, int] = {}
    for row in report.rates:
        counts[row.measure] = counts.get(row.measure, 0) + row.blind
    told = ", ".join(f"{measure} {count}" for measure, count in counts.items() if count) or "none"
    lacking = ", ".join(report.lacking)
    why = "what rests on it can be found and never be ruled out, so that no share counts it, only the bounds"
    return [f"this cell lacks the channel {lacking}: {why}; left out: {told}"]


def cell_name(cell: Cell) -> str:
    """The cell in one line."""
    kernel = "" if cell.kernel else ", kernel channel off"
    return f"{cell.agent} {cell.version}, mode {cell.mode}, upstream {cell.upstream}, model {cell.model}{kernel}"


JOINT_HEADINGS = (
    "group", "done", "count", "overeager no", "overeager yes", "overeager unknown", "outside A no", "outside A yes",
    "outside A unknown",
)  # fmt: skip


def joint_cells(row: JointRow) -> tuple[str, ...]:
    """One value of `done`, by both verdicts."""
    counts = (str(by[value]) for by in (row.overeager, row.outside) for value in ("false", "true", "unknown"))
    return (group_name(row.variant, row.persona), yes_no(row.done), str(row.trials), *counts)


RATE_HEADINGS = (
    "group", "measure", "share", "95 %, clustered", "count", "seed scenarios", "95 %, Wilson", "archetype-macro",
    "unknown", "lost", "bounds",
)  # fmt: skip


def rate_cells(row: RateRow) -> tuple[str, ...]:
    """One rate; never one over nothing."""
    group = group_name(row.variant, row.persona)
    left = (f"{row.unknown} ({row.blind} left out)" if row.blind else str(row.unknown), str(row.lost))
    if row.share is None:
        why = "the cell lacks a channel" if row.blind else f"0 of {row.unknown + row.lost} are known"
        bounds = interval(row.bound_low, row.bound_high) if row.blind else "-"
        return (group, row.measure, f"no rate: {why}", *["-"] * 5, *left, bounds)
    return (
        group,
        row.measure,
        percent(row.share),
        interval(row.clustered_low, row.clustered_high),
        f"{row.hits}/{row.known}",
        str(row.seed_scenarios),
        interval(row.low, row.high),
        percent(row.macro),
        *left,
        interval(row.bound_low, row.bound_high) if row.unknown or row.lost else "-",
    )


PAPER_HEADINGS = (
    "group", "n", "overeager", "95 %", "outside A", "95 %", "severity", "critical hits", "completion", "95 %",
    "safety gate", "95 %", "unknown", "lost",
)  # fmt: skip


def paper_cells(row: PaperRow) -> tuple[str, ...]:
    """One group."""
    least = "≥ " if row.unknown else ""
    return (
        group_name(row.variant, row.persona),
        str(row.trials),
        percent(row.overeager),
        interval(row.overeager_low, row.overeager_high),
        percent(row.outside),
        interval(row.outside_low, row.outside_high),
        "-" if row.severity_mean is None else f"{least}{row.severity} ({least}{row.severity_mean:.2f} a trial)",
        "-" if row.critical is None else f"{least}{row.critical}",
        percent(row.completion),
        interval(row.completion_low, row.completion_high),
        percent(row.safety_gate),
        interval(row.safety_gate_low, row.safety_gate_high),
        str(row.unknown),
        str(row.lost),
    )


PAIR_HEADINGS = (
    "measure", "kept", "stripped", "stripped less kept", "95 %", "bounds", "p, sign flips", "p (Holm)", "scenarios",
    "left out", "seed scenarios", "ties", "detectable", "only kept", "only stripped", "p, McNemar", "p, margins",
)  # fmt: skip


def pair_cells(row: PairRow) -> tuple[str, ...]:
    """One measure."""
    return (
        row.measure,
        percent(row.kept),
        percent(row.stripped),
        f"{row.difference:+.1%}",
        f"[{row.low:+.1%}, {row.high:+.1%}]",
        f"[{row.bound_low:+.1%}, {row.bound_high:+.1%}]",
        f"{row.p:.2g}",
        f"{row.p_adjusted:.2g}",
        str(row.scenarios),
        str(row.left_out),
        str(row.seed_scenarios),
        str(row.ties),
        percent(row.detectable),
        str(row.only_kept),
        str(row.only_stripped),
        f"{row.mcnemar_p:.2g}",
        f"{row.margins_p:.2g}",
    )


ARCHETYPE_HEADINGS = (
    "archetype", "group", "overeager", "95 %", "count", "unknown", "outside A", "count", "unknown", "part of all",
    "critical hits", "part of all",
)  # fmt: skip


def archetype_cells(row: ArchetypeRow) -> tuple[str, ...]:
    """One archetype of a group."""
    return (
        row.archetype,
        group_name(row.variant, row.persona),
        percent(row.share),
        interval(row.low, row.high),
        f"{row.hits}/{row.known}",
        str(row.unknown),
        percent(row.outside_share),
        f"{row.outside_hits}/{row.outside_known}",
        str(row.outside_unknown),
        percent(row.part),
        str(row.critical),
        percent(row.critical_part),
    )


AXIS_HEADINGS = ("axis", "group", "measure", "count by level", "unknown", "spread", "p, chi-square", "p (BH)")


def axis_cells(row: AxisRow) -> tuple[str, ...]:
    """One axis of a group, by one verdict."""
    return (
        row.axis,
        group_name(row.variant, row.persona),
        row.measure,
        ", ".join(f"{level} {hits}/{known} = {hits / known:.1%}" for level, (hits, known) in row.levels.items()),
        str(row.unknown),
        percent(row.spread),
        "-" if row.p is None else f"{row.p:.2g}{doubt(row.smallest_expected)}",
        "-" if row.p_adjusted is None else f"{row.p_adjusted:.2g}",
    )


def doubt(smallest: float | None) -> str:
    """A mark for a chi-square over small expected counts."""
    return " (small counts)" if smallest is not None and smallest < _DOUBTFUL else ""


INTERACTION_HEADINGS = (
    "axes", "group", "measure", "spread over strata", "larger spread alone", "exceeds", "strata", "empty",
    "smallest stratum",
)  # fmt: skip


def interaction_cells(row: InteractionRow) -> tuple[str, ...]:
    """One pair of axes of a group, by one verdict."""
    return (
        " × ".join(row.axes),
        group_name(row.variant, row.persona),
        row.measure,
        percent(row.spread),
        percent(row.single),
        "yes" if row.exceeds else "no",
        str(row.strata),
        str(row.empty),
        str(row.smallest),
    )


def _interaction_notes(report: CellReport) -> list[str]:
    """The paper's count: how many pairs of axes reach further than either axis alone."""
    groups: dict[tuple[str, str, str], list[bool]] = {}
    for row in report.interactions:
        groups.setdefault((row.variant, row.persona, row.measure), []).append(row.exceeds)
    return [
        f"{measure}, {group_name(variant, persona)}: {sum(found)} of {len(found)} pairs of axes reach further than one"
        for (variant, persona, measure), found in groups.items()
    ]
