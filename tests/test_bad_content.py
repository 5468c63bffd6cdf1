"""What an agent names and says comes out harmless: on a terminal, in Markdown, in a spreadsheet, in a browser."""

from __future__ import annotations

import csv
import io
import os
import pty
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bad_kit import SCENARIO, files_below
from overeager.model.persona import Expect, Step
from overeager.report.annotation import Item, page
from overeager.report.tables import Table, comma_separated, markdown
from run_kit import demo_scenario, overeager, play_steps, write_bench

NAMES = (
    r"""$'=HYPERLINK("http:x","y")' $'caf\xe9' $'a\x1b[2J\u009b31mz' $'x\nFORGED: false' """
    r"""$'<img src=x onerror=alert(1)>' $'p|q`[l](javascript:1)' $'\u202egnp.exe' $'[bold red]m[/]'"""
)
SAID = "Done \x1b]0;owned\x07 <script>alert(1)</script> \u202e [bold]x[/]\nFORGED: false"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One trial whose agent made files with such names, and said so."""
    folder = tmp_path_factory.mktemp("content")
    steps = [Step(shell=f"touch {NAMES}", expect=Expect()), Step(say=SAID, expect=Expect())]
    bench = write_bench(folder / "bench", [play_steps(demo_scenario(SCENARIO), steps)])
    options = ("--upstream", "persona:cautious", "--variant", "kept", "--out", folder / "run")
    assert overeager("run", bench, *options).returncode == 0
    assert overeager("judge", folder / "run").returncode == 0
    return folder / "run"


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "command",
    [
        ("show", "RUN", "kept", "--all", "--explain"),
        ("show", "RUN", "kept", "--json"),
        ("judge", "RUN", "--explain", "kept"),
        ("judge", "RUN", "--json"),
        ("report", "RUN", "--format", "table"),
        ("report", "RUN", "--format", "markdown"),
        ("report", "RUN", "--format", "csv"),
        ("report", "RUN", "--format", "json"),
    ],
    ids=" ".join,
)
def test_nothing_that_is_printed_steers_a_terminal_or_passes_for_a_line_of_ours(
    command: Sequence[str], run: Path
) -> None:
    done = overeager(*(str(run) if word == "RUN" else word for word in command))
    assert done.returncode == 0, done.stderr
    assert STEERS.findall(done.stdout + done.stderr) == []
    assert "csv" in command or not re.search(r"^\s*FORGED", done.stdout, re.MULTILINE)


@pytest.mark.sandbox
def test_a_terminal_gets_names_as_they_are_not_as_markup(run: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.environ["COLUMNS"] = "400"
        os.execv(sys.executable, [sys.executable, "-m", "overeager.cli", "show", str(run), "kept", "--all"])
    shown = b""
    while True:
        try:
            shown += (piece := os.read(terminal, 65536))
        except OSError:  # the other end was closed
            break
        if not piece:
            break
    os.waitpid(child, 0)
    assert b"[bold red]m[/]" in shown
    assert b"\x1b[2J" not in shown
    assert b"\x1b]0;" not in shown


@pytest.mark.sandbox
def test_a_verdict_on_a_name_that_is_no_text_is_kept(run: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (run / "verdicts").glob("*/*.json")}
    assert overeager("judge", run).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before, "it could not be read back, and was made again"
    assert len(files_below(run / "verdicts")) == 1


@pytest.mark.sandbox
def test_the_page_for_annotators_holds_text_alone(run: Path, tmp_path: Path) -> None:
    assert overeager("annotate", "sample", run, "--out", tmp_path / "labels").returncode == 0
    text = (tmp_path / "labels" / "items.html").read_text(encoding="utf-8")
    assert STEERS.findall(text) == []
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "default-src 'none'" in text


@pytest.mark.pure
def test_every_part_of_an_item_is_escaped_once() -> None:
    evil = "<b onclick='x'>&\x1b\u202e"
    text = page([Item("item-1", evil, {evil: [evil]}, [evil], [evil], [], [evil])])
    assert "<b" not in text
    assert text.count("&lt;b onclick=&#39;x&#39;&gt;&amp;\\x1b\\u202e") == 6
    assert "&amp;lt;" not in text


@pytest.mark.pure
@pytest.mark.parametrize("cell", ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-2+3", "\t=1"])
def test_a_spreadsheet_finds_no_formula(cell: str) -> None:
    text = comma_separated(Table("t", "t", ("name", "number"), ((cell, "-0.25"),)))
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row == {"name": f"'{cell}", "number": "-0.25"}


@pytest.mark.pure
def test_a_cell_of_a_csv_begins_no_row_of_its_own() -> None:
    text = comma_separated(Table("t", "t", ("name",), (("one\rforged",), ("two\nthree",))))
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    assert found == [{"name": "one\\rforged"}, {"name": "two\nthree"}]


@pytest.mark.pure
def test_a_cell_of_markdown_stays_a_cell_and_text() -> None:
    evil = "a\\|b | <img src=x> ![i](http://x)\nnext"
    text = markdown(evil, [Table("t", "t", ("name",), ((evil,),))], [evil])
    assert "<img" not in text
    assert "](" not in text
    (line,) = [one for one in text.splitlines() if one.startswith("| a")]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 2, "its own two edges"
    assert "\nnext" not in text
