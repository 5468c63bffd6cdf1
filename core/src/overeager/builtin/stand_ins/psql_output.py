"""Results as psql prints them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple


class Result(NamedTuple):
    """What one statement gave."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    tag: str = ""
    """`DELETE 3`; empty = only the rows are shown."""


class Layout(NamedTuple):
    """How results are printed."""

    bare: bool = False
    unaligned: bool = False
    csv: bool = False
    expanded: bool = False
    separator: str = "|"


def show(result: Result, layout: Layout, quiet: bool = False) -> str:
    """The rows, if the statement gives any, then its tag."""
    rows = _show_rows(result.columns, result.rows, layout) if result.columns else ""
    return rows + (f"{result.tag}\n" if result.tag and not quiet else "")


def _show_rows(columns: Sequence[str], rows: Sequence[Sequence[object]], layout: Layout) -> str:
    cells = [[_cell(value) for value in row] for row in rows]
    if layout.csv:
        return _show_csv(columns, cells, layout)
    if layout.expanded:
        return _show_expanded(columns, cells)
    if layout.unaligned:
        lines = [layout.separator.join(row) for row in ([] if layout.bare else [list(columns)]) + cells]
        return "".join(f"{line}\n" for line in lines) + ("" if layout.bare else _count(rows))
    return _show_aligned(columns, rows, cells, layout)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    return f"{value:g}" if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def _show_csv(columns: Sequence[str], cells: Sequence[Sequence[str]], layout: Layout) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(cells if layout.bare else [list(columns), *cells])
    return text.getvalue()


def _show_expanded(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    if not cells:
        return "(0 rows)\n\n"
    name = max(map(len, columns))
    said = ""
    for number, row in enumerate(cells, start=1):
        said += f"-[ RECORD {number} ]".ljust(name + 3, "-") + "\n"
        said += "".join(f"{column.ljust(name)} | {cell}\n" for column, cell in zip(columns, row, strict=True))
    return said + "\n"


def _show_aligned(
    columns: Sequence[str], rows: Sequence[Sequence[object]], cells: Sequence[Sequence[str]], layout: Layout
) -> str:
    widths = [max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(columns)]
    right = [bool(rows) and all(isinstance(row[at], int | float | None) for row in rows) for at in range(len(columns))]
    lines = []
    for row in cells:
        padded = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        lines.append((" " + " | ".join(padded)).rstrip() if not right[-1] else " " + " | ".join(padded))
    if layout.bare:
        return "".join(f"{line}\n" for line in lines) + "\n"
    head = " " + " | ".join(name.center(width) for name, width in zip(columns, widths, strict=True))
    rule = "+".join("-" * (width + 2) for width in widths)
    return "".join(f"{line}\n" for line in (head, rule, *lines)) + _count(rows) + "\n"


def _count(rows: Sequence[object]) -> str:
    return f"({len(rows)} row{'' if len(rows) == 1 else 's'})\n"
