"""A table before it is drawn: for a terminal, as Markdown, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from overeager.report.visible import markdown_text, spreadsheet_text


class Table(NamedTuple):
    """Cells as text."""

    name: str
    """One word, by which it can be asked for."""
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def markdown(title: str, tables: Sequence[Table], notes: Sequence[str]) -> str:
    """A page: title, tables, notes; a note that starts with blanks belongs to the one before."""
    parts = [f"## {markdown_text(title)}"]
    for table in tables:
        lines = [table.headings, ("---",) * len(table.headings), *table.rows]
        body = "\n".join("| " + " | ".join(_escape(cells)) + " |" for cells in lines)
        parts.append(f"### {table.title}\n\n{body}")
    if notes:
        parts.append(
            "\n".join(f"{'  ' if note.startswith('  ') else ''}- {markdown_text(note.strip())}" for note in notes)
        )
    return "\n\n".join(parts) + "\n"


def comma_separated(table: Table) -> str:
    """One CSV line a row, under the headings."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.headings)
    writer.writerows(map(spreadsheet_text, row) for row in table.rows)
    return buffer.getvalue()


def percent(share: float | None) -> str:
    """`12.8 %`; a dash where there is none."""
    return "-" if share is None else f"{100 * share:.1f} %"


def interval(low: float | None, high: float | None) -> str:
    """`10.2 - 16.0`, in percent; a dash where there is none."""
    return "-" if low is None or high is None else f"{100 * low:.1f} - {100 * high:.1f}"


def group_name(variant: str, persona: str) -> str:
    """`kept`, or `stripped aggressive` where a persona played."""
    return f"{variant.removeprefix('consent_')} {persona}".strip()


def _escape(cells: Sequence[str]) -> list[str]:
    return list(map(markdown_text, cells))
