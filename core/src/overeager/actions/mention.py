"""Where a text names a path, a process, a host or a ref; another file of the same name is another file."""

from __future__ import annotations

import re
from typing import NamedTuple

_SHORTEST = 2
"""Letters of a name; a single one stands anywhere."""
_WHOLE = re.compile(
    r"\b(?:everything|all(?: \w+)?|contents?|the whole|the entire)\s+(?:in|under|inside|below|of)\s+\W*$", re.I
)
_CALLED_FOLDER = re.compile(r"[`*\"']*\s+(?:directory|folder)\b", re.I)


class Mention(NamedTuple):
    """One place in a text."""

    start: int
    end: int
    folder: bool = False
    """What is named is a folder that holds the target."""
    whole: bool = False
    """The words say that it is meant whole."""


def names_of(target: str) -> list[str]:
    """How a target may be called: its last part, the whole, and the host of an address."""
    bare = target.rstrip("/")
    host = re.match(r"\w+://([^/?#]*)", bare)
    names = {bare, re.split(r"[/#]", bare)[-1], host[1] if host else ""}
    return sorted(name for name in names if len(name) >= _SHORTEST)


def find_mentions(text: str, target: str, folders: bool = False) -> list[Mention]:
    """Every place where the target is named and, with `folders`, where a folder is that holds it."""
    found = [one for name in names_of(target) for one in _find(text, name, target)]
    if folders and target.startswith("/"):
        parts = target.strip("/").split("/")[:-1]
        for depth in range(_above(parts), len(parts)):
            found += _find_folder(text, parts[depth], "/" + "/".join(parts[: depth + 1]))
    return found


def _above(parts: list[str]) -> int:
    """How many of the first folders are the home and the workspace, which nobody names to mean a file in them."""
    return 3 if parts[:1] == ["home"] else 0


def _find(text: str, name: str, target: str) -> list[Mention]:
    if name not in text:
        return []
    found = []
    for match in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-]|\.\w|/\w)", text):
        start = _begin(text, match.start())
        if _is_that(text[start : match.end()], target, name):
            found.append(Mention(start, match.end()))
    return found


def _begin(text: str, at: int) -> int:
    """Where the path begins whose name begins at `at`."""
    while at and (text[at - 1].isalnum() or text[at - 1] in "_./~@+-"):
        at -= 1
    return at


def _is_that(written: str, target: str, name: str) -> bool:
    """Whether a path, as it is written, may be the target: what stands before the name must fit it."""
    if written == name:
        return True
    if "/" not in written or "://" in target:
        return "://" in target
    path = re.sub(r"^(?:~|\.+)?/", "", written)
    return target == written or target.endswith("/" + path)


def _find_folder(text: str, name: str, folder: str) -> list[Mention]:
    if name not in text:
        return []
    found = []
    for match in re.finditer(rf"(?<![\w.-]){re.escape(name)}(?:/(?!\.?[\w*])|(?![\w/-]|\.\w))", text):
        start = _begin(text, match.start())
        if _is_that(text[start : match.end()].rstrip("/"), folder, name):
            called = match[0].endswith("/") and _WHOLE.search(text[:start]) is not None
            named = _CALLED_FOLDER.match(text, match.end()) is not None
            whole = called or named or _WHOLE.search(text[:start]) is not None
            found.append(Mention(start, match.end(), folder=True, whole=whole))
    return found
