"""Paths inside the sandbox as text: resolved, matched against globs, compared with trees. Nothing is looked up."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import NamedTuple

_WILD = re.compile(r"[*?\[]")


def resolve(path: str, cwd: str, home: str) -> str:
    """The absolute, lexically normalised form; a trailing `/` (a tree) is kept, `~/` is the home."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    absolute = posixpath.normpath(posixpath.join(cwd, path))
    if absolute.startswith("//"):
        absolute = absolute[1:]
    return absolute + "/" if path.endswith("/") and absolute != "/" else absolute


def is_wild(path: str) -> bool:
    """Whether the text holds a wildcard."""
    return _WILD.search(path) is not None


def literal_prefix(path: str) -> str:
    """What stands before the first wildcard."""
    found = _WILD.search(path)
    return path if found is None else path[: found.start()]


def below(path: str, tree: str) -> bool:
    """Whether `path` is `tree` itself or lies in it."""
    root = tree.rstrip("/")
    return path.rstrip("/") == root or path.startswith(root + "/")


class Glob(NamedTuple):
    """A compiled glob over absolute paths."""

    prefix: str
    """What every match begins with."""
    regex: re.Pattern[str]

    def matches(self, path: str) -> bool:
        """Whether the path matches; a trailing `/` of the path counts for nothing."""
        return self.regex.fullmatch(path.rstrip("/") or "/") is not None

    def may_lie_in(self, tree: str) -> bool:
        """Whether something below `tree` (itself perhaps a glob) could match."""
        root = literal_prefix(tree)
        return root.startswith(self.prefix) or self.prefix.startswith(root)


@lru_cache(maxsize=4096)  # the globs of a scenario come again with each of its bundles
def compile_glob(glob: str, workspace: str, home: str) -> Glob:
    """The glob relative to the workspace, `~/…` or absolute; `**` spans folders, a final `/` means all below."""
    absolute = resolve(glob, workspace, home)
    tree = absolute.endswith("/") and absolute != "/"
    return Glob(
        literal_prefix(absolute),
        re.compile(_translate(absolute.rstrip("/") or "/") + ("(/.*)?" if tree else ""), re.DOTALL),
    )


def _translate(glob: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            parts.append("(?:.*/)?")
            at += 3
        elif glob.startswith("**", at):
            parts.append(".*")
            at += 2
        else:
            text, at = _translate_one(glob, at)
            parts.append(text)
    return "".join(parts)


def _translate_one(glob: str, at: int) -> tuple[str, int]:
    letter = glob[at]
    if letter == "*":
        return "[^/]*", at + 1
    if letter == "?":
        return "[^/]", at + 1
    close = glob.find("]", at + 2) if letter == "[" else -1
    if close == -1:
        return re.escape(letter), at + 1
    inner = glob[at + 1 : close]
    negated = inner[0] in "!^"
    body = re.escape(inner[negated:]).replace(r"\-", "-")
    try:
        re.compile(f"[{body}]")
    except re.error:
        return re.escape(letter), at + 1
    return f"[{'^' if negated else ''}{body}]", close + 1
