"""A script taken apart into statements and backslash commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*(?:'|\Z)|"(?:[^"]|"")*(?:"|\Z)|(\$\w*\$).*?(?:\1|\Z)|;|\\[^\n]*|[^'"$;\\/-]+|.""",
    re.DOTALL,
)
_PLAIN_PART = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""", re.DOTALL)


class Piece(NamedTuple):
    """One statement, or one backslash command with its argument."""

    text: str
    """Without its semicolon; a command without its backslash."""
    is_command: bool


def take_pieces(text: str) -> Iterator[Piece]:
    """The pieces in their order; comments are left out."""
    statement = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token.startswith(("--", "/*")):
            statement += " "
        elif token == ";":
            if statement.strip():
                yield Piece(statement.strip(), False)
            statement = ""
        elif token.startswith("\\"):
            if token.strip() == "\\g" or not token[1:].strip():
                continue
            if statement.strip():
                yield Piece(statement.strip(), False)
            statement = ""
            yield Piece(token[1:].strip(), True)
        else:
            statement += token
    if statement.strip():
        yield Piece(statement.strip(), False)


def rewrite_outside_quotes(statement: str, pattern: re.Pattern[str], replacement: str) -> str:
    """The statement with the pattern replaced wherever no text or quoted name stands."""
    parts, at = [], 0
    for match in _PLAIN_PART.finditer(statement):
        parts += [pattern.sub(replacement, statement[at : match.start()]), match[0]]
        at = match.end()
    return "".join([*parts, pattern.sub(replacement, statement[at:])])
