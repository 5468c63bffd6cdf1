"""Text that an agent chose, made harmless for what shows it: it names files, runs commands, ends with a message."""

from __future__ import annotations

import re

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""What steers a terminal, turns the direction of writing, breaks a line or shows nothing; not newline and tab."""
_FORMULA = re.compile(r"[=+\-@\t]")
_NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?")


def make_visible(text: str) -> str:
    """`text` with such marks written out as `\\x1b` or `\\u202e`, and bytes that are no text as `\\udcXX`."""
    return _UNSEEN.sub(_written, text).encode("utf-8", "backslashreplace").decode()


def make_json_visible(text: str) -> str:
    """A JSON document with the same marks escaped as JSON has it; the value stays the same."""
    escaped = _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return escaped.encode("utf-8", "backslashreplace").decode()


def one_line(text: str) -> str:
    """`text` without a line break, so that it cannot pass for a line of ours."""
    return text.replace("\n", "\\n")


def markdown_text(text: str) -> str:
    """`text` in one line that neither ends a table's cell, nor is read as HTML, nor as a link or picture."""
    for mark, written in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("](", "]\\("), ("\n", " ")):
        text = text.replace(mark, written)
    return text


def spreadsheet_text(cell: str) -> str:
    """`cell` so that no spreadsheet takes it for a formula; numbers stay numbers."""
    cell = cell.replace("\r", "\\r")  # csv leaves a lone one unquoted, and readers begin a row there
    return f"'{cell}" if _FORMULA.match(cell) and len(cell) > 1 and not _NUMBER.fullmatch(cell) else cell


def _written(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
