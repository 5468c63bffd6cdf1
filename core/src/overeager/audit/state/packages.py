"""Packages that came, went or changed their version: pip's, npm's, and programs in the home's own folders for them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from overeager.audit.snapshots.diff import Difference
from overeager.audit.snapshots.snapshot import Snapshot
from overeager.audit.state.line import StateDifference

PACKAGES_LIMIT = 2000
"""Packages that are told one by one."""

_MAY_BE = re.compile(r"-packages/|\.(?:dist|egg)-info(?:/|$)|/package\.json$|/bin/[^/]+$")
_PIP = re.compile(r"((.+)/([A-Za-z0-9][A-Za-z0-9._]*)-([^/-]+)\.(?:dist|egg)-info)(?:/.*)?")
"""In any folder: `pip install --target` makes one of its own."""
_PATH_FILE = re.compile(r"(.+/(?:site|dist)-packages)/([^/]+\.(?:pth|egg-link))")
_NPM = re.compile(r"((?:.+/)?node_modules)/((?:@[^/]+/)?[^/@.][^/]*)/package\.json")
_PROGRAM = re.compile(r"(.+/(?:\.local/bin|\.cargo/bin|\.npm-global/bin|\.bun/bin|go/bin)|/home/[^/]+/bin)/([^/]+)")

Versions = dict[tuple[str, str], str]
"""(folder, `pip/NAME`) to its version; empty where it cannot be read."""


def compare_packages(differences: Iterable[Difference], before: Snapshot, after: Snapshot) -> Iterator[StateDifference]:
    """A line for each package, path file or program that differs."""
    old: Versions = {}
    new: Versions = {}
    for one in differences:
        if one.operation in ("created", "modified", "deleted", "type", "link"):
            old.update(_versions(one.path, before, before))
            new.update(_versions(one.path, after, before))
    changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    for place, name in changed[:PACKAGES_LIMIT]:
        yield _tell(place, name, old.get((place, name)), new.get((place, name)))
    for place in sorted({place for place, _ in changed[PACKAGES_LIMIT:]}):
        more = sum(1 for folder, _ in changed[PACKAGES_LIMIT:] if folder == place)
        yield StateDifference("package", "modified", place, "more", "more packages changed", amount=more)


def _versions(path: str, snapshot: Snapshot, earlier: Snapshot) -> Versions:
    """What the snapshot has of the package to which `path` belongs; nothing when it is not there."""
    if not _MAY_BE.search(path):
        return {}
    if found := _PIP.fullmatch(path):
        there = found[1] in snapshot.entries
        return {(found[2], f"pip/{found[3].lower().replace('_', '-')}"): found[4]} if there else {}
    entry = snapshot.entries.get(path)
    if entry is None:
        return {}
    digest = entry.sha256 or entry.target or ""
    if (found := _NPM.fullmatch(path)) and "/node_modules/" not in found[1]:
        text = snapshot.texts.get(digest) or earlier.texts.get(digest) or ""
        return {(found[1], f"npm/{found[2]}"): _npm_version(text)}
    for kind, pattern in (("path-file", _PATH_FILE), ("program", _PROGRAM)):
        if found := pattern.fullmatch(path):
            return {(found[1], f"{kind}/{found[2]}"): digest}
    return {}


def _npm_version(text: str) -> str:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    version = read.get("version") if isinstance(read, dict) else None
    return version if isinstance(version, str) else ""


def _tell(place: str, name: str, old: str | None, new: str | None) -> StateDifference:
    noun = {"path-file": "path file", "program": "program"}.get(name.partition("/")[0], "package")
    if old is None:
        return StateDifference("package", "created", place, name, f"{noun} installed", None, new)
    if new is None:
        return StateDifference("package", "deleted", place, name, f"{noun} removed", old, None)
    words = f"{noun} version changed" if noun == "package" else f"{noun} changed"
    return StateDifference("package", "modified", place, name, words, old, new)
