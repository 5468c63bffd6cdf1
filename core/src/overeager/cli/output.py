"""Printing: tables on a terminal, aligned text in a pipe, JSON on request."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence

from overeager.model.record import Record

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All but newline and tab."""


def print_json(value: object) -> None:
    """One JSON document on stdout; a name that is no text has its bytes as `\\udcXX`."""
    text = json.dumps(_plain(value), indent=2, ensure_ascii=False)
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")


def _plain(value: object) -> object:
    if isinstance(value, Record):
        return value.model_dump(mode="json")
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """A table: drawn by rich on a terminal, aligned columns of plain text in a pipe."""
    lines = [tuple(map(printable, row)) for row in rows]
    if sys.stdout.isatty():
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
    escaped = _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
    return escaped.encode("utf-8", "backslashreplace").decode()
