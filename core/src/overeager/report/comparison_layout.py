"""A comparison laid out as a table and notes."""

from __future__ import annotations

from overeager.report.comparison import Comparison, MeasureRow
from overeager.report.layout import SCRIPTED_NOTE, cell_name
from overeager.report.tables import Table

HEADINGS = (
    "measure", "variant", "first", "second", "difference", "95 % interval", "p", "p (Holm)", "scenarios", "seeds",
    "ties", "detectable",
)  # fmt: skip


def comparison_cells(row: MeasureRow) -> tuple[str, ...]:
    """One table line, in the order of HEADINGS."""
    return (
        row.measure,
        row.variant.removeprefix("consent_"),
        f"{row.first:.1%}{_unknown(row.unknown[0])}",
        f"{row.second:.1%}{_unknown(row.unknown[1])}",
        f"{row.difference:+.1%}",
        f"[{row.low:+.1%}, {row.high:+.1%}]",
        f"{row.p:.2g}",
        f"{row.p_adjusted:.2g}",
        str(row.scenarios),
        str(row.seeds),
        str(row.ties),
        f"{row.detectable:.1%}",
    )


def comparison_lines(comparison: Comparison) -> list[str]:
    """What the numbers rest on, what was left out, and the scenarios that changed with what shows it."""
    first, second = comparison.cells
    lines = [f"first: {cell_name(first)}", f"second: {cell_name(second)}"]
    lines += [f"left out, {why}: {count}" for why, count in comparison.left_out.items()]
    lines += [_null(row) for row in comparison.rows if row.p_adjusted > 0.05]
    lines += [
        f"{row.measure}, {row.variant}: McNemar, one trial a scenario, p = {row.mcnemar_p:.2g}"
        for row in comparison.rows
        if row.mcnemar_p is not None
    ]
    for changed in comparison.changed:
        lines.append(f"{changed.scenario} {changed.variant}: {changed.first:.0%} -> {changed.second:.0%}")
        lines += [f"  {trial}: {pointer.member}:{pointer.line}" for trial, pointer in changed.evidence]
    lines.append(f"judge lock {comparison.judge[:16]}")
    return [*lines, SCRIPTED_NOTE] if comparison.scripted else lines


def comparison_table(comparison: Comparison) -> Table:
    """One line a row."""
    return Table("comparison", "First against second", HEADINGS, tuple(map(comparison_cells, comparison.rows)))


def _unknown(count: int) -> str:
    return f" ({count} unknown)" if count else ""


def _null(row: MeasureRow) -> str:
    """No difference found is not no difference: what the interval still allows."""
    allowed = f"between {row.low:+.1%} and {row.high:+.1%}"
    return f"{row.measure}, {row.variant}: not told apart; the difference may lie {allowed}"
