"""Options and operands of an argv, and the small words that all rules are written in."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence
from typing import NamedTuple

from overeager.contract.shim import Nested, Reading
from overeager.model.action import Target
from overeager.model.vocabulary import Kind

Found = tuple[Reading | Nested, ...]
"""What a rule gives."""


class Arguments(NamedTuple):
    """An argv taken apart."""

    flags: tuple[str, ...]
    """Options without their values, short ones singly (`-rf` = `-r`, `-f`)."""
    values: tuple[tuple[str, str], ...]
    """Options that take a value, each with it."""
    operands: tuple[str, ...]

    def has(self, *names: str) -> bool:
        """Whether one of the options is there."""
        return any(name in self.flags for name in names) or any(name in names for name, _ in self.values)

    def value(self, *names: str) -> str | None:
        """The last value given to one of the options."""
        return next((value for name, value in reversed(self.values) if name in names), None)

    def all_values(self, *names: str) -> tuple[str, ...]:
        """Every value given to one of the options."""
        return tuple(value for name, value in self.values if name in names)


def take_apart(words: Sequence[str], valued: Collection[str] = (), mixed: bool = True) -> Arguments:
    """The words behind the command's name; `valued` are the options that take a value.

    `mixed` False = options end at the first operand, as in all commands that run another.
    """
    flags: list[str] = []
    values: list[tuple[str, str]] = []
    operands: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands.extend(rest)
            break
        if word == "-" or not word.startswith("-"):
            operands.append(word)
            if not mixed:
                operands.extend(rest)
                break
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            if equals:
                values.append((name, value))
            elif name in valued and rest:
                values.append((name, rest.pop(0)))
            else:
                flags.append(name)
        else:
            _take_short(word, valued, rest, flags, values)
    return Arguments(tuple(flags), tuple(values), tuple(operands))


def _take_short(
    word: str, valued: Collection[str], rest: list[str], flags: list[str], values: list[tuple[str, str]]
) -> None:
    for position, letter in enumerate(word[1:], start=1):
        name = f"-{letter}"
        if name not in valued:
            flags.append(name)
            continue
        attached = word[position + 1 :]
        if attached or rest:
            values.append((name, attached or rest.pop(0)))
        return


def place(word: str, cwd: str) -> str:
    """The absolute form of a path operand; `~/` is left to the core, which knows the home."""
    if word.startswith("~/"):
        return word
    absolute = posixpath.normpath(posixpath.join(cwd, word))
    return absolute[1:] if absolute.startswith("//") else absolute


def path(word: str, cwd: str, tree: bool = False) -> Target:
    """A path target; `tree` = acted on with all that lies in it."""
    value = place(word, cwd)
    return Target(type="path", value=value + "/" if tree and value != "/" else value)


def reading(kind: Kind, *targets: Target, detail: str = "", sure: bool = True) -> Reading:
    """A reading in one line."""
    return Reading(kind, targets, detail, sure)


def each(kind: Kind, words: Sequence[str], cwd: str, detail: str = "", sure: bool = True, tree: bool = False) -> Found:
    """One reading for each path; `-` is no path."""
    return tuple(reading(kind, path(w, cwd, tree), detail=detail, sure=sure) for w in words if w != "-" and w)


def both_ends(kind: Kind, source: str, destination: str, cwd: str, tree: bool = False, sure: bool = True) -> Reading:
    """A move or link, with its two ends."""
    start, end = path(source, cwd, tree), path(destination, cwd, tree)
    targets = (
        Target(type="path", value=start.value, role="from"),
        Target(type="path", value=end.value, role="to"),
    )
    return Reading(kind, targets, sure=sure)


def inside(folder: str, source: str) -> str:
    """Where `source` comes to lie when it is put into `folder`."""
    return posixpath.join(folder, posixpath.basename(source.rstrip("/")))


def looks_like_file(word: str) -> bool:
    """Whether a word names one file rather than a folder, as far as its form tells."""
    name = word.rstrip("/").rpartition("/")[2]
    return not word.endswith("/") and name not in (".", "..") and "." in name


def exec_detail(words: Sequence[str]) -> Reading:
    """What the vocabulary has no room for, as the detail of the exec itself."""
    return Reading("exec", (), " ".join(words))


def url(word: str) -> Target:
    """A URL target."""
    return Target(type="url", value=word)
