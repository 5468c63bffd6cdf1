"""Printing: tables on a terminal, aligned text in a pipe, JSON on request."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

from overeager.report.visible import make_json_visible, make_visible, one_line


def print_json(value: object) -> None:
    """One JSON document on stdout; a name that is no text has its bytes as `\\udcXX`."""
    text = json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(make_json_visible(text) + "\n")


def print_json_list(values: Iterable[object]) -> None:
    """As `print_json` of a list of all `values`, of which one at a time is held."""
    before = "["
    for value in values:
        text = json.dumps([_plain(value)], indent=2, ensure_ascii=False, allow_nan=False)
        sys.stdout.write(before + make_json_visible(text[1:-2]))
        before = ","
    sys.stdout.write("[]\n" if before == "[" else "\n]\n")


def _plain(value: object) -> object:
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    from overeager.model.record import Record  # late: most that is printed needs no pydantic

    return value.model_dump(mode="json") if isinstance(value, Record) else value


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """A table: drawn by rich on a terminal, aligned columns of plain text in a pipe."""
    lines = [tuple(one_line(printable(cell)) for cell in row) for row in rows]
    if on_terminal():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*headings, title=title or None, title_justify="left")
        for line in lines:
            table.add_row(*map(Text, line))
        Console().print(table)
        return
    if title:
        echo(title)
    sys.stdout.write(align([tuple(headings), *lines]))


def on_terminal() -> bool:
    """Whether stdout is read by a person, whose lines are as wide as the window."""
    return sys.stdout.isatty()


def align(rows: Sequence[Sequence[str]]) -> str:
    """Columns two spaces apart; no trailing blanks."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)


def say(text: str) -> None:
    """A line for people, on stderr, so that stdout pipes."""
    sys.stderr.write(f"{printable(text)}\n")


def echo(text: str = "", *, nl: bool = True) -> None:
    """Text for people, on stdout."""
    sys.stdout.write(printable(text) + ("\n" if nl else ""))


def printable(text: str) -> str:
    """`text` with what would steer a terminal, and bytes that are no text, written out: an agent chooses its names."""
    return make_visible(text)
