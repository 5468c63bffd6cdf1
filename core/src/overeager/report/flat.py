"""Tables as CSV for machines: the records themselves, with the names of their JSON keys and numbers as they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from overeager.model.record import Record
from overeager.report.across import CellPair
from overeager.report.archetypes import ArchetypeRow
from overeager.report.axes import AxisRow, InteractionRow
from overeager.report.consent import PairRow
from overeager.report.joint import JointRow
from overeager.report.measures import RateRow
from overeager.report.paper import PaperRow
from overeager.report.rows import CellReport, TrialRow
from overeager.report.seeds import SeedRow
from overeager.report.tables import Table
from overeager.report.whole import Report

CELL_TABLES: Mapping[str, type[Record]] = {
    "joint": JointRow,
    "rates": RateRow,
    "paper": PaperRow,
    "pairs": PairRow,
    "archetypes": ArchetypeRow,
    "axes": AxisRow,
    "interactions": InteractionRow,
    "trials": TrialRow,
}
"""Of each run, by the key of its report that holds the rows."""
ACROSS_TABLES: Mapping[str, type[Record]] = {"cell_pairs": CellPair, "generator_seeds": SeedRow}
"""Of all runs together."""


class Line(NamedTuple):
    """One row of a table, and the run that it is of."""

    run: str
    row: Record


def flat_table(report: Report, name: str) -> Table:
    """The table called `name` over all runs; the first column names the run. Headings alone when it is empty."""
    if name in ACROSS_TABLES:
        return _flatten(name, (), ACROSS_TABLES[name], (Line("", row) for row in getattr(report, name)))
    lines = (Line(cell.run, row) for cell in report.cells for row in _rows(cell, name))
    return _flatten(name, ("run",), CELL_TABLES[name], lines)


def records_table(name: str, kind: type[Record], rows: Iterable[Record]) -> Table:
    """`rows`, which are of `kind`, with a column for each field."""
    return _flatten(name, (), kind, (Line("", row) for row in rows))


def _rows(cell: CellReport, name: str) -> Sequence[Record]:
    found: Sequence[Record] = getattr(cell, name)
    return found


def _flatten(name: str, before: tuple[str, ...], kind: type[Record], lines: Iterable[Line]) -> Table:
    fields = tuple(kind.model_fields)
    rows = ((*[line.run for _ in before], *_cells(line.row, fields)) for line in lines)
    return Table(name, name, (*before, *fields), tuple(rows))


def _cells(row: Record, fields: Sequence[str]) -> tuple[str, ...]:
    values = row.model_dump(mode="json")
    return tuple(_text(values[field]) for field in fields)


def _text(value: object) -> str:
    """A cell: nothing for None, JSON for what is no single value, except lists of text, which are joined."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "; ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
