"""Git's configuration files, read without git: what they include is not followed, nothing in them takes force."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SECTION = re.compile(r"\[\s*([-.A-Za-z0-9]+)\s*(?:\"((?:[^\"\\\n]|\\.)*)\")?\s*\]")
_KEY = re.compile(r"([A-Za-z][-A-Za-z0-9]*)[ \t]*")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}

Settings = dict[str, tuple[str, ...]]
"""`section.sub.key` (section and key in lower case) to its values in order."""


def read_config(data: bytes) -> Settings:
    """The settings; raises ValueError where git would refuse the file."""
    found: dict[str, list[str]] = {}
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").replace("\r\n", "\n")
    for key, value in _pairs(text):
        found.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in found.items()}


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    section, at = "", 0
    while at < len(text):
        letter = text[at]
        if letter in " \t\n":
            at += 1
        elif letter in "#;":
            at = _line_end(text, at)
        elif letter == "[":
            section, at = _read_section(text, at)
        else:
            key = _KEY.match(text, at)
            if key is None or not section:
                raise ValueError(f"no setting at offset {at}")
            value, at = _read_value(text, key.end())
            yield f"{section}.{key[1].lower()}", value


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _read_section(text: str, at: int) -> tuple[str, int]:
    found = _SECTION.match(text, at)
    if found is None:
        raise ValueError(f"no section at offset {at}")
    name = found[1].lower()
    sub = None if found[2] is None else re.sub(r"\\(.)", r"\1", found[2])
    return (name if sub is None else f"{name}.{sub}"), found.end()


def _read_value(text: str, at: int) -> tuple[str, int]:
    """What stands behind a key up to its line's end; a key alone is true."""
    if at >= len(text) or text[at] in "\n#;":
        return "true", _line_end(text, at)
    if text[at] != "=":
        raise ValueError(f"no value at offset {at}")
    at += 1
    parts: list[str] = []
    kept, quoted = 0, False
    while at < len(text):
        letter = text[at]
        if letter == "\n" and not quoted:
            break
        if letter in "#;" and not quoted:
            at = _line_end(text, at)
            break
        if letter == "\\":
            letter, at = _read_escape(text, at), at + 1
        elif letter == '"':
            quoted, letter = not quoted, ""
            kept = len(parts)
        elif letter == "\n":
            raise ValueError(f"a line ends inside quotes at offset {at}")
        elif not quoted and letter in " \t":
            if parts:
                parts.append(letter)
            at += 1
            continue
        if letter:
            parts.append(letter)
        kept = len(parts)
        at += 1
    if quoted:
        raise ValueError("the file ends inside quotes")
    return "".join(parts[:kept]), at


def _read_escape(text: str, at: int) -> str:
    letter = text[at + 1 : at + 2]
    if letter == "\n":
        return ""
    if letter in ("\\", '"'):
        return letter
    if letter not in _ESCAPES:
        raise ValueError(f"no such escape at offset {at}")
    return _ESCAPES[letter]
