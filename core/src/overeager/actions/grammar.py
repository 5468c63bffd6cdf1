"""Shell text to a syntax tree; the only module that knows the parser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


_OPEN, _CLOSE = "\u00e0", "\u00e1"
_DIGITS = "".join(map(chr, range(0x00C0, 0x00D0)))
"""Sixteen letters that stand for hexadecimal digits."""

_SHIELDED = re.compile(f"{_OPEN}([{_DIGITS}]+){_CLOSE}")


def parse(text: str) -> Node:
    """The root of the tree of `text` as bash reads it; what cannot be parsed stands in nodes of type ERROR."""
    # Here and not above: loading the grammar costs more than most commands of the program take.
    import tree_sitter
    import tree_sitter_bash

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    return parser.parse(shield(text).encode()).root_node


def source(node: Node) -> str:
    """The text that the node spans."""
    return unshield((node.text or b"").decode("utf-8", "replace"))


def shield(text: str) -> str:
    """`text` with each character beyond ASCII spelled out in letters below U+0100; `unshield` gives it back.

    The grammar's scanner looks characters up in C's table of the first 256, whatever their number: beyond it the
    process may die (tree-sitter-bash 0.25.1). bash takes such characters as parts of words, and so are the letters.
    """
    return text if text.isascii() else "".join(char if char < "\x80" else _spell(char) for char in text)


def unshield(text: str) -> str:
    """The inverse of `shield`, also on a part of its result; a lone surrogate comes back as U+FFFD."""
    return text if text.isascii() else _SHIELDED.sub(_read, text)


def _spell(char: str) -> str:
    return _OPEN + "".join(_DIGITS[int(digit, 16)] for digit in f"{ord(char):x}") + _CLOSE


def _read(match: re.Match[str]) -> str:
    number = int("".join(f"{_DIGITS.index(letter):x}" for letter in match[1]), 16)
    return "\ufffd" if 0xD800 <= number <= 0xDFFF or number > 0x10FFFF else chr(number)


def is_broken(root: Node) -> bool:
    """Whether bash would refuse the text; `7<>f`, which the grammar does not know, is no error of the text."""
    if not root.has_error:
        return False
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_missing or (node.type == "ERROR" and source(node) != ">"):
            return True
        pending.extend(child for child in node.children if child.has_error or child.type == "ERROR" or child.is_missing)
    return False
