"""Every form of docs/evasion.md, played again: what is seen is what the committed table says."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from evasion.cells import CELLS, Cell, available, missing_programs, play_forms, why_not
from evasion.form import Form, Group
from evasion.forms import FORMS
from evasion.page import PAGE, page
from evasion.seen import place_of
from evasion.table import Row, read_table, rows_of
from evasion.world import scenario_of
from run_kit import overeager, write_bench
from sandbox_kit import USERS

pytestmark = pytest.mark.sandbox

GROUPS: tuple[Group, ...] = ("change", "read", "send", "prevented", "twin")
SHARES = (1, 4, 8, 8)
"""One form in so many is played again here in each of CELLS; `python tests/evasion_forms.py` plays all of them."""
CELL_NAMES = [f"{cell.sandbox}-{cell.user}" for cell in CELLS]


def chosen(cell: Cell) -> list[Form]:
    """The forms that are played in the cell; an ordinary user, who can play in one cell alone, plays all."""
    at = CELLS.index(cell)
    return available(FORMS)[at :: SHARES[at] if len(USERS) > 1 else 1]


class Played(NamedTuple):
    """What is seen in a cell now."""

    cell: Cell
    rows: list[Row]


@pytest.fixture(scope="module", params=CELLS, ids=CELL_NAMES)
def played(request: pytest.FixtureRequest) -> Played:
    cell: Cell = request.param
    reason = why_not(cell)
    if reason:
        pytest.skip(reason)
    forms = chosen(cell)
    with tempfile.TemporaryDirectory(prefix="forms") as folder:
        Path(folder).chmod(0o755)
        return Played(cell, rows_of(cell, forms, play_forms(cell, forms, Path(folder))))


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_seen_of_each_form_is_what_the_table_says(played: Played, group: Group) -> None:
    ids = {form.id for form in chosen(played.cell) if form.group == group}
    found = [row for row in played.rows if row.id in ids]
    expected = [row for row in read_table() if row.id in ids and row[1:3] == played.cell]
    assert sorted(found) == sorted(expected)


def test_show_tells_one_act_with_all_channels_that_saw_it(tmp_path: Path) -> None:
    form = next(form for form in FORMS if form.name == "find -delete")
    bench, out = write_bench(tmp_path / "forms", [scenario_of(form)]), tmp_path / "run"
    ran = overeager("run", bench, "--upstream", "persona:cautious", "--variant", "kept", "--out", out)
    assert ran.returncode == 0, ran.stderr
    shown = overeager("show", out, form.id, "--all", "--json")
    assert shown.returncode == 0, shown.stderr
    acts = json.loads(shown.stdout)["acts"]
    (deleted,) = [act for act in acts if act["kind"] == "delete" and place_of(form.target) in act["paths"]]
    assert set(deleted["channels"]) == {"agent", "fs", "kernel", "shim"}


def test_every_program_of_the_table_is_here() -> None:
    missing = missing_programs(FORMS)
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@pytest.mark.pure
def test_every_form_stands_in_the_table_once_for_each_sandbox_and_user() -> None:
    expected = [(form.id, *cell) for form in FORMS for cell in CELLS]
    assert sorted(row[:3] for row in read_table()) == sorted(expected)


@pytest.mark.pure
def test_every_trap_has_the_value_that_its_form_states() -> None:
    """TRUE where something was done, FALSE where nothing was: for every user, in every sandbox."""
    stated = {form.id: form for form in FORMS}
    wrong = [row for row in read_table() if row.value != stated[row.id].value_in(row.sandbox)]
    assert wrong == []


@pytest.mark.pure
def test_every_act_is_shown_by_a_channel() -> None:
    """What came through is, if only as an open that counts nothing; a form that a sandbox prevents shows no act."""
    done = {form.id: form for form in FORMS if form.group in ("change", "read", "send")}
    unseen = [
        row
        for row in read_table()
        if row.id in done and not row.channels and not row.incidental
        if not (done[row.id].nested and row.sandbox == "docker")
    ]
    assert unseen == []


@pytest.mark.pure
def test_what_shows_a_read_only_as_incidental_says_why() -> None:
    told = {form.id for form in FORMS if form.remark}
    assert {row.id for row in read_table() if row.incidental and not row.channels} <= told


@pytest.mark.pure
def test_a_channel_that_is_not_whole_has_its_reason_in_the_table() -> None:
    told = {form.id for form in FORMS if form.remark}
    assert {row.id for row in read_table() if row.flaw} <= told


@pytest.mark.pure
def test_the_page_says_what_the_table_says() -> None:
    assert PAGE.read_text() == page(read_table()), "run `python tests/evasion_forms.py --page`"
