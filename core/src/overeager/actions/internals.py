"""Files that a program keeps for itself: a repository's folder, what lies beside a database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from overeager.actions.paths import below
from overeager.actions.story import Entry, Snapshots
from overeager.contract.evidence import StateChange

_COMPANIONS = ("-wal", "-journal", "-shm")

_REFS: Mapping[str, str] = {
    "branch/": "refs/heads/", "tag/": "refs/tags/", "tracking/": "refs/remotes/", "ref/refs/": "refs/",
}  # fmt: skip


class Internals(NamedTuple):
    """Which paths are the internals of what."""

    folders: tuple[str, ...]
    """Of every repository that either snapshot shows; sorted."""
    databases: frozenset[str]

    def repository(self, path: str) -> str | None:
        """The folder of the repository whose internals the path is among."""
        inner = path.partition("/.git/")
        if inner[1]:
            return f"{inner[0]}/.git"
        return next((folder for folder in self.folders if below(path, folder)), None)

    def database(self, path: str) -> str | None:
        """The database beside which SQLite keeps the path."""
        stems = (path.removesuffix(end) for end in _COMPANIONS if path.endswith(end))
        return next((stem for stem in stems if stem in self.databases), None)


def find_internals(snapshots: Snapshots, changes: Iterable[StateChange]) -> Internals:
    """The repositories of both snapshots, and the databases that changed."""
    folders = {*_repositories(snapshots.before), *_repositories(snapshots.after)}
    databases = frozenset(change.place for change in changes if change.system == "sqlite")
    return Internals(tuple(sorted(folders)), databases)


def _repositories(entries: Mapping[str, Entry]) -> list[str]:
    heads = (path.removesuffix("/HEAD") for path in entries if path.endswith("/HEAD"))
    return [head for head in heads if f"{head}/objects" in entries and f"{head}/refs" in entries]


def footprint(change: StateChange, folders: Collection[str]) -> tuple[str, ...]:
    """The paths one of which whoever made the difference had to touch; trees end in `/`."""
    if change.system == "sqlite":
        return (change.place, *(change.place + end for end in _COMPANIONS))
    if change.system == "package":
        return (f"{change.place}/",)
    if change.system == "git":
        holders = [folder for folder in (f"{change.place}/.git", change.place) if folder in folders]
        return _of_git(change, holders[0]) if holders else (change.place,)
    return (change.place,)


def _of_git(change: StateChange, folder: str) -> tuple[str, ...]:
    """Where git keeps the object; what is not known has its whole folder."""
    name = change.object
    for prefix, refs in _REFS.items():
        if name.startswith(prefix):
            return (f"{folder}/{refs}{name.removeprefix(prefix)}", f"{folder}/packed-refs", f"{folder}/reftable/")
    first, _, rest = name.partition("/")
    known: Mapping[str, tuple[str, ...]] = {
        "head": (f"{folder}/HEAD",),
        "index": (f"{folder}/index",),
        "stash": (f"{folder}/refs/stash", f"{folder}/logs/refs/stash", f"{folder}/packed-refs"),
        "reflog": (f"{folder}/logs/{rest}",),
        "object": (f"{folder}/objects/",),
        "hook": (f"{folder}/hooks/{rest}", f"{change.place}/{rest}"),
        "config": (f"{folder}/config", f"{folder}/config.worktree"),
        "worktree": (f"{folder}/worktrees/{rest.partition('/')[0]}/",),
        "info": (f"{folder}/info/{rest}", f"{folder}/objects/info/{rest}", f"{folder}/{rest}"),
    }
    return known.get(first, (f"{folder}/",))


def touches(path: str, footprints: Iterable[str]) -> bool:
    """Whether `path` (a tree perhaps) is one of the places, in one of them, or holds one."""
    return any(
        below(path, place) if place.endswith("/") else path == place or (path.endswith("/") and below(place, path))
        for place in footprints
    )
