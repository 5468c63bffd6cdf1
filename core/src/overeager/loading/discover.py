"""What is installed: every entry point of the five groups, found without importing anything."""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Collection, Iterable
from email.parser import HeaderParser
from typing import NamedTuple

import importlib_metadata

GROUPS = ("overeager.agents", "overeager.archetypes", "overeager.atoms", "overeager.axes", "overeager.shims")
"""The five groups; the part after the dot is the kind."""


class Found(NamedTuple):
    """An entry point and who brought it."""

    group: str
    name: str
    value: str
    """`package.module` or `package.module:attribute`."""
    distribution: str
    version: str
    entry_point: importlib_metadata.EntryPoint

    @property
    def kind(self) -> str:
        """The group without its prefix: `atoms`."""
        return self.group.partition(".")[2]

    @property
    def label(self) -> str:
        """Kind and name, as `--only-plugin` and `--block-plugin` take them: `atoms:core`."""
        return f"{self.kind}:{self.name}"

    @property
    def module(self) -> str:
        """What is imported."""
        return self.value.partition(":")[0].partition("[")[0].strip()

    @property
    def is_ours(self) -> bool:
        """Whether it lies in the core itself."""
        return self.module.partition(".")[0] == "overeager"

    @property
    def key(self) -> tuple[str, str]:
        """Group and name: unique, or else a duplicate."""
        return self.group, self.name

    @property
    def origin(self) -> str:
        """The distribution with its version, for messages."""
        return f"{self.distribution} {self.version}"


def scan() -> tuple[Found, ...]:
    """Every entry point of the five groups on sys.path, sorted; the disk is read once a process and path."""
    return _scan(tuple(sys.path))


@functools.lru_cache(maxsize=1)
def _scan(path: tuple[str, ...]) -> tuple[Found, ...]:
    """`path` is the cache's key: importlib-metadata reads sys.path itself."""
    return sort_found(_found(point) for point in importlib_metadata.entry_points() if point.group in GROUPS)


def sort_found(found: Iterable[Found]) -> tuple[Found, ...]:
    """In the one order that does not depend on how they were found."""
    return tuple(sorted(found, key=lambda one: one[:5]))


def find_duplicates(found: Collection[Found]) -> frozenset[tuple[str, str]]:
    """The keys that more than one entry point has, adjacent or not."""
    counts = Counter(one.key for one in found)
    return frozenset(key for key, count in counts.items() if count > 1)


def _found(point: importlib_metadata.EntryPoint) -> Found:
    name, version = _distribution(point)
    return Found(point.group, point.name, point.value, name, version, point)


def _distribution(point: importlib_metadata.EntryPoint) -> tuple[str, str]:
    """Name and version; a distribution whose metadata is damaged must not hide the others.

    Only the head is parsed: what follows it, a readme as a rule, is most of the file and of the time.
    """
    try:
        text = (point.dist.read_text("METADATA") or point.dist.read_text("PKG-INFO")) if point.dist else None
        head = HeaderParser().parsestr(text or "", headersonly=True)
    except (OSError, ValueError):
        return "unknown", "unknown"
    return str(head["Name"] or "unknown"), str(head["Version"] or "unknown")
