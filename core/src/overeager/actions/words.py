"""Words of the shell: what bash makes of quotes, escapes, braces, tilde and variables whose value the text gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from overeager.actions.grammar import source

if TYPE_CHECKING:
    from tree_sitter import Node

_BRACES = re.compile(r"(?<!\$)\{([^{}]*,[^{}]*)\}")
_RANGE = re.compile(r"(?<!\$)\{(-?\d+)\.\.(-?\d+)\}")
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "?": "?",
}
_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)", re.DOTALL)
_MOST = 64
"""How many words one brace expression may become."""


class Word(NamedTuple):
    """One word after expansion; what is not known stands in it as it was written."""

    text: str
    known: bool = True


class Scope(NamedTuple):
    """What words are expanded with."""

    variables: Mapping[str, str | None]
    """None = assigned, with a value that the text does not give."""
    substitute: Callable[[Node], Word]
    """Reads a command or process substitution, and says what it puts in its place."""


def expand(node: Node, scope: Scope) -> tuple[Word, ...]:
    """The words that one word of the text becomes: several by braces or by an unquoted variable."""
    whole = source(node)
    if (
        node.type in ("word", "concatenation", "brace_expression")
        and ("{" in whole)
        and (listed := _expand_braces(node, scope))
    ):
        return listed
    word = _expand_one(node, scope)
    if node.type in ("simple_expansion", "expansion") and word.known:
        return tuple(Word(part) for part in word.text.split())
    return (word,)


def expand_text(node: Node, scope: Scope) -> Word:
    """The node as exactly one word, as in an assignment or a redirection."""
    return _expand_one(node, scope)


def unescape_ansi(text: str) -> str:
    """What `$'…'` and printf make of backslashes."""
    return _ANSI.sub(_ansi, text)


def _ansi(match: re.Match[str]) -> str:
    code = match[1]
    if code in _ESCAPES:
        return _ESCAPES[code]
    try:
        if code[0] in "xuU" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
    except (ValueError, OverflowError):
        return match[0]
    return match[0]


def _expand_braces(node: Node, scope: Scope) -> tuple[Word, ...]:
    """Braces are expanded before all else; only words without quotes around the brace take part."""
    whole = _expand_one(node, scope)
    bare = "".join(source(child) for child in node.children if child.type in ("word", "brace_expression")) or source(
        node
    )
    if not (_BRACES.search(bare) or _RANGE.search(bare)):
        return ()
    words = _split_braces(whole.text)
    return tuple(Word(text, whole.known) for text in words[:_MOST])


def _split_braces(text: str) -> list[str]:
    found = _BRACES.search(text)
    if found is not None:
        options = found[1].split(",")
    else:
        found = _RANGE.search(text)
        if found is None:
            return [text]
        low, high = int(found[1]), int(found[2])
        step = 1 if high >= low else -1
        options = [str(number) for number in range(low, high + step, step)[:_MOST]]
    before, after = text[: found.start()], text[found.end() :]
    return [part for option in options for part in _split_braces(before + option + after)][:_MOST]


def _expand_one(node: Node, scope: Scope) -> Word:
    reader = _READERS.get(node.type)
    if reader is not None:
        return reader(node, scope)
    if node.type in ("command_substitution", "process_substitution"):
        return scope.substitute(node)
    return Word(source(node), known=False)


def _read_word(node: Node, scope: Scope) -> Word:
    text = source(node)
    if node.type == "word" and (text == "~" or text.startswith("~/")):
        home = scope.variables.get("HOME")
        return Word(text if home is None else home + re.sub(r"\\(.)", r"\1", text[1:]), home is not None)
    if any(child.is_named for child in node.children):
        return _join(node, scope)
    return Word(re.sub(r"\\\n", "", text) if "\\\n" in text else re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL))


def _read_braces(node: Node, scope: Scope) -> Word:
    return Word(source(node))


def _read_raw(node: Node, scope: Scope) -> Word:
    return Word(source(node)[1:-1])


def _read_ansi(node: Node, scope: Scope) -> Word:
    return Word(unescape_ansi(source(node)[2:-1]))


def _read_string(node: Node, scope: Scope) -> Word:
    """Gaps between the children are text too: the grammar leaves leading blanks outside of string_content."""
    data = node.text or b""
    parts: list[Word] = []
    at = 1
    for child in node.children[1:-1]:
        start, end = child.start_byte - node.start_byte, child.end_byte - node.start_byte
        parts.append(Word(data[at:start].decode("utf-8", "replace")))
        if child.type == "string_content":
            parts.append(Word(re.sub(r'\\([\\$`"\n])', lambda m: "" if m[1] == "\n" else m[1], source(child))))
        else:
            parts.append(_expand_one(child, scope) if child.is_named else Word(source(child)))
        at = end
    parts.append(Word(data[at:-1].decode("utf-8", "replace")))
    return _glue(parts)


def _join(node: Node, scope: Scope) -> Word:
    words = [_expand_one(child, scope) if child.is_named else Word(source(child)) for child in node.children]
    if words and node.children[0].type == "word" and words[0].text[:1] == "~":
        words[0] = _read_word(node.children[0], scope)
    return _glue(words)


def _glue(words: list[Word]) -> Word:
    return Word("".join(word.text for word in words), all(word.known for word in words))


def _read_variable(node: Node, scope: Scope) -> Word:
    """`$x`, `${x}`, `${x:-word}`; other forms of expansion are not computed."""
    names = [child for child in node.children if child.type in ("variable_name", "special_variable_name")]
    if not names:
        return Word(source(node), known=False)
    value = scope.variables.get(source(names[0]))
    if node.type == "simple_expansion" or len([c for c in node.children if c.type not in ("${", "}")]) == 1:
        return Word(source(node), known=False) if value is None else Word(value)
    operator = node.children[2].type if len(node.children) > 2 else ""
    if operator in (":-", "-") and value is not None:
        return Word(value)
    return Word(source(node), known=False)


_READERS: Mapping[str, Callable[[Node, Scope], Word]] = {
    "word": _read_word,
    "number": _read_word,
    "brace_expression": _read_braces,
    "file_descriptor": _read_word,
    "command_name": _join,
    "concatenation": _join,
    "raw_string": _read_raw,
    "ansi_c_string": _read_ansi,
    "translated_string": _join,
    "string": _read_string,
    "simple_expansion": _read_variable,
    "expansion": _read_variable,
}
