"""The table of evasions: every form, played in every sandbox for every kind of user.

python tests/evasion_forms.py            play all and compare with the committed table
python tests/evasion_forms.py --write    play all, write tests/expected/evasion.csv and docs/evasion.md anew
python tests/evasion_forms.py --page     write the page from the table that is there
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from evasion.cells import CELLS, Cell, missing_programs, play_forms, why_not
from evasion.forms import FORMS
from evasion.page import PAGE, page
from evasion.table import Row, read_table, rows_of, write_table


def play_cell(cell: Cell) -> list[Row]:
    """The rows of one cell, by one run."""
    with tempfile.TemporaryDirectory(prefix="forms") as folder:
        Path(folder).chmod(0o755)
        return rows_of(cell, FORMS, play_forms(cell, FORMS, Path(folder)))


def main(wish: str = "") -> int:
    """0 when the table holds or was written."""
    if wish != "--page":
        lacking = [reason for cell in CELLS if (reason := why_not(cell))] + missing_programs(FORMS)
        if lacking:
            print(f"the whole table cannot be played here: {', '.join(lacking)}")
            return 2
        rows = sorted(row for cell in CELLS for row in play_cell(cell))
        if wish != "--write":
            differing = sorted(set(rows) ^ set(read_table()))
            for row in differing:
                print(("found    " if row in rows else "expected ") + " ".join(row))
            return 1 if differing else 0
        write_table(rows)
    PAGE.write_text(page(read_table()))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
