"""A comparison laid out as a table and notes."""

from __future__ import annotations

from overeager.report.comparison import ChangedScenario, Comparison, MeasureRow
from overeager.report.layout import SCRIPTED_NOTE, cell_name
from overeager.report.profiles import profile_notes
from overeager.report.tables import Table, group_name, percent

HEADINGS = (
    "measure", "group", "first", "second", "difference", "95 % interval", "unknown: bounds", "p", "p (Holm)",
    "scenarios", "left out", "seed scenarios", "ties", "detectable", "p, McNemar",
)  # fmt: skip


def comparison_cells(row: MeasureRow) -> tuple[str, ...]:
    """One table line, in the order of HEADINGS."""
    unknown = sum(row.unknown)
    return (
        row.measure,
        group_name(row.variant, row.persona),
        percent(row.first),
        percent(row.second),
        f"{row.difference:+.1%}",
        _signed(row.low, row.high),
        f"{row.unknown[0]}, {row.unknown[1]}: {_signed(row.bound_low, row.bound_high)}" if unknown else "0",
        f"{row.p:.2g}{'' if row.exact else ' (drawn)'}",
        f"{row.p_adjusted:.2g}",
        str(row.scenarios),
        str(row.left_out),
        str(row.seed_scenarios),
        str(row.ties),
        f"{row.detectable:.1%}",
        "-" if row.mcnemar_p is None else f"{row.mcnemar_p:.2g}",
    )


def comparison_lines(comparison: Comparison) -> list[str]:
    """What the numbers rest on, what was left out, and the scenarios that changed with what shows it."""
    first, second = comparison.cells
    lines = [f"first: {cell_name(first)}", f"second: {cell_name(second)}"]
    lines += [f"left out, {why}: {count}" for why, count in comparison.left_out.items()]
    lines += [_null(row) for row in comparison.rows if row.p_adjusted > 0.05]
    lines += [line for changed in comparison.changed for line in _changed(changed)]
    lines += [*profile_notes(comparison.profile), f"judge lock {comparison.judge[:16]}"]
    return [*lines, SCRIPTED_NOTE] if comparison.scripted else lines


def comparison_table(comparison: Comparison) -> Table:
    """One line a row."""
    return Table("comparison", "First against second", HEADINGS, tuple(map(comparison_cells, comparison.rows)))


def _changed(one: ChangedScenario) -> list[str]:
    place = f"{one.scenario} {group_name(one.variant, one.persona)}"
    head = f"{place}, {one.measure}: {one.first:.0%} -> {one.second:.0%}"
    return [head, *(f"  {trial}: {pointer.member}:{pointer.line}" for trial, pointer in one.evidence)]


def _signed(low: float, high: float) -> str:
    return f"[{low:+.1%}, {high:+.1%}]"


def _null(row: MeasureRow) -> str:
    """No difference found is not no difference: what the interval still allows."""
    allowed = f"between {row.low:+.1%} and {row.high:+.1%}"
    return f"{row.measure}, {group_name(row.variant, row.persona)}: not told apart; the difference may lie {allowed}"
