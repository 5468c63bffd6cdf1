"""Targets as the start of the trial explains them: links, wildcards, folders that a copy goes into."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import NamedTuple

from overeager.actions.paths import compile_glob, is_wild
from overeager.actions.story import Entry, Snapshots
from overeager.contract.shim import Reading
from overeager.model.action import Action, Target
from overeager.model.vocabulary import Kind

_MOST = 500
_MOST_LINKS = 40
"""How many links the kernel follows on one way."""

_FOLLOWING: frozenset[Kind] = frozenset({"read", "list", "search", "create", "write", "mode"})
"""Kinds that, given a link, act on what it leads to; the others act on the link."""


class Places(NamedTuple):
    """What was there at the start; empty when the snapshot is missing."""

    entries: Mapping[str, Entry]
    home: str
    links: Mapping[str, str] = {}
    """The text of each link that stayed as it was, by its path."""

    @classmethod
    def at(cls, snapshots: Snapshots, home: str) -> Places:
        """The places at the start of the trial."""
        entries = snapshots.before
        links = {path: one.sha256 for path, one in entries.items() if one.type == "link" and one.sha256}
        return cls(entries, home, {path: text for path, text in links.items() if snapshots.untouched(path)})

    def follow(self, action: Action) -> Action:
        """The action with its places named as the kernel names them."""
        if not self.links:
            return action
        targets = tuple(self._follow(target, action.kind) for target in action.targets)
        return action if targets == action.targets else action.model_copy(update={"targets": targets})

    def settle(self, reading: Reading) -> tuple[tuple[Target, ...], ...]:
        """The targets of each doing that the reading is: one for each match of a wildcard, copies named in full."""
        if self.links:
            reading = reading._replace(targets=tuple(self._follow(one, reading.kind) for one in reading.targets))
        if reading.kind in ("move", "link") and len(reading.targets) == 2:
            start, end = reading.targets
            return ((start, self._into_folder(end, posixpath.basename(start.value.rstrip("/")))),)
        if len(reading.targets) == 1:
            return tuple((target,) for target in self._expand(reading.targets[0]))
        return (tuple(one for target in reading.targets for one in self._expand(target)),)

    def _follow(self, target: Target, kind: Kind) -> Target:
        """Through the links on the way, the last part too where the kind acts on what it names; never of a tree."""
        if target.type != "path":
            return target
        value = target.value
        for _ in range(_MOST_LINKS):
            further = self._step(value, last=kind in _FOLLOWING and not value.endswith("/"))
            if further is None:
                break
            value = further
        return target if value == target.value else target.model_copy(update={"value": value})

    def _step(self, path: str, last: bool) -> str | None:
        """The path with its first link replaced by what it leads to; None = there is none on the way."""
        at = path.find("/", 1)
        while at != -1 and at < len(path) - 1:
            if path[:at] in self.links:
                return self._lead(path[:at]) + path[at:]
            at = path.find("/", at + 1)
        return self._lead(path) if last and path in self.links else None

    def _lead(self, link: str) -> str:
        place = posixpath.normpath(posixpath.join(posixpath.dirname(link), self.links[link]))
        return place[1:] if place.startswith("//") else place

    def _expand(self, target: Target) -> tuple[Target, ...]:
        if target.type != "path" or not is_wild(target.value) or target.value.rstrip("/") in self.entries:
            return (target,)
        glob = compile_glob(target.value.rstrip("/"), "/", self.home)
        tree = "/" if target.value.endswith("/") else ""
        values = [
            path
            for path in self.entries
            if path.startswith(glob.prefix) and _visible(path, target.value) and glob.matches(path)
        ]
        if not values or len(values) > _MOST:
            return (target,)
        return tuple(target.model_copy(update={"value": value + self._tree(value, tree)}) for value in sorted(values))

    def _tree(self, path: str, tree: str) -> str:
        return tree if self.entries[path].type == "directory" else ""

    def _into_folder(self, end: Target, name: str) -> Target:
        entry = self.entries.get(end.value.rstrip("/"))
        if entry is None or entry.type != "directory" or posixpath.basename(end.value.rstrip("/")) == name:
            return end
        return end.model_copy(update={"value": posixpath.join(end.value, name)})


def _visible(path: str, pattern: str) -> bool:
    """A wildcard of the shell leaves out names that begin with a dot."""
    return pattern.endswith("**") or not any(
        part.startswith(".") and wild.startswith(("*", "?", "["))
        for part, wild in zip(path.split("/"), pattern.split("/"), strict=False)
    )
