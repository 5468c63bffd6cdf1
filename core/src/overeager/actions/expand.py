"""Targets as the start of the trial explains them: wildcards, folders that a copy goes into."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import NamedTuple

from overeager.actions.paths import compile_glob, is_wild
from overeager.actions.story import Entry
from overeager.contract.shim import Reading
from overeager.model.action import Target

_MOST = 500


class Places(NamedTuple):
    """What was there at the start; empty when the snapshot is missing."""

    entries: Mapping[str, Entry]
    home: str

    def settle(self, reading: Reading) -> tuple[Target, ...]:
        """The reading's targets with wildcards replaced by what they match, and copies named in full."""
        if reading.kind in ("move", "link") and len(reading.targets) == 2:
            start, end = reading.targets
            return (start, self._into_folder(end, posixpath.basename(start.value.rstrip("/"))))
        found: list[Target] = []
        for target in reading.targets:
            found.extend(self._expand(target))
        return tuple(found)

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
