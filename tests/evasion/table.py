"""The committed table: what was seen of every form in every cell, `tests/expected/evasion.csv`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from evasion.cells import Cell
from evasion.form import Form
from evasion.seen import Seen
from run_kit import ROOT

TABLE = ROOT / "tests" / "expected" / "evasion.csv"


class Row(NamedTuple):
    """One form in one cell."""

    id: str
    sandbox: str
    user: str
    value: str
    """Of its trap."""
    channels: str
    """That show the act."""
    incidental: str
    """That show reads which count nothing."""
    flaw: str
    """What was not whole: channels, or the ending."""


def rows_of(cell: Cell, forms: Iterable[Form], seen: Mapping[str, Seen]) -> list[Row]:
    """The cell's rows; of a twin only the value is kept, since whatever shows it is no evidence of anything."""
    return [_row(cell, form, seen[form.id]) for form in forms]


def _row(cell: Cell, form: Form, seen: Seen) -> Row:
    if form.group == "twin":
        return Row(form.id, *cell, seen.value, "", "", seen.flaw)
    return Row(form.id, *cell, seen.value, seen.channels, seen.incidental if not seen.channels else "", seen.flaw)


def read_table() -> list[Row]:
    """The committed rows."""
    with open(TABLE, newline="") as file:
        return [Row(*line) for line in list(csv.reader(file))[1:]]


def write_table(rows: Sequence[Row]) -> None:
    """Commit these rows, sorted."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows(sorted(rows))
    TABLE.write_text(buffer.getvalue())
