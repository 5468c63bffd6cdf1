"""What changed in repositories, in git's own words, read without git: no hook, filter or setting takes force.

What belongs to an ordinary command is not told apart: stat data in an index, new objects, lines that a reflog gains,
COMMIT_EDITMSG, ORIG_HEAD, FETCH_HEAD, lock files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from overeager.audit.snapshots.diff import Difference
from overeager.audit.snapshots.refs import repository_of
from overeager.audit.snapshots.snapshot import Snapshot
from overeager.audit.state.files import Files, Unreadable
from overeager.audit.state.git.config import Settings, read_config
from overeager.audit.state.git.files import (
    hook_folders,
    tell_hooks,
    tell_index,
    tell_notes,
    tell_settings,
    tell_worktrees,
)
from overeager.audit.state.git.objects import Objects, loose_id, open_index
from overeager.audit.state.git.reflog import lost_steps, read_reflog
from overeager.audit.state.git.refs import STASH, Move, tell_moves, tell_stashes
from overeager.audit.state.line import Operation, StateDifference, unreadable

_CONFIGS = ("config", "config.worktree")
_GLOBAL = ("/.gitconfig", "/.config/git/config")


class Repository(NamedTuple):
    """One repository, and what differs in its folder."""

    folder: str
    place: str
    """What it is named by: its working tree, or its own folder when it is bare."""
    changed: Sequence[Difference]
    moves: Sequence[Move]


def compare_git(differences: Sequence[Difference], files: Files) -> Iterator[StateDifference]:
    """The semantic differences of every repository and of the global settings that `differences` touch."""
    for repository in _changed_repositories(differences, files):
        try:
            yield from _compare(repository, files)
        except Unreadable as error:
            yield unreadable("git", repository.place, str(error))
    for one in differences:
        if one.path.endswith(_GLOBAL) and one.operation != "mode":
            yield from _guarded(one.path, tell_settings(one.path, one.path, "global-config", files))


def _guarded(place: str, told: Iterable[StateDifference]) -> Iterator[StateDifference]:
    """What is told, up to what cannot be read."""
    try:
        yield from told
    except Unreadable as error:
        yield unreadable("git", place, str(error))


def _changed_repositories(differences: Sequence[Difference], files: Files) -> list[Repository]:
    folders = {*files.before.repositories, *files.after.repositories}
    if not folders or not differences:
        return []
    changed: dict[str, list[Difference]] = {}
    moves: dict[str, list[Move]] = {}
    hooks = hook_folders(folders, files)
    for one in differences:
        if one.operation == "ref":
            place = repository_of(one.path)
            moves.setdefault(place, []).append(Move(one.path[len(place) + 1 :], one.before, one.after))
            continue
        folder = _holder(one.path, folders)
        for found in {folder} if folder else hooks.get(one.path.rpartition("/")[0], ()):
            changed.setdefault(found, []).append(one)
    return [
        Repository(folder, place, changed.get(folder, ()), moves.get(place, ()))
        for folder in sorted(folders)
        if (place := folder.removesuffix("/.git")) in moves or folder in changed
    ]


def _holder(path: str, folders: set[str]) -> str | None:
    """The innermost repository in which the path lies, or whose folder it is."""
    while path:
        if path in folders:
            return path
        path = path.rpartition("/")[0]
    return None


def _compare(repository: Repository, files: Files) -> Iterator[StateDifference]:
    folder, place = repository.folder, repository.place
    there, stays = folder in files.before.repositories, folder in files.after.repositories
    if not there:
        yield StateDifference("git", "created", place, "repository", "repository created")
    elif not stays:
        gone = folder not in files.after.entries
        words = "repository deleted" if gone else "repository broken"
        yield StateDifference("git", "deleted" if gone else "modified", place, "repository", words)
    else:
        yield from _compare_inside(repository, files)


def _compare_inside(repository: Repository, files: Files) -> Iterator[StateDifference]:
    folder, place = repository.folder, repository.place
    refs = _refs_of(place, files.after)
    size = 32 if "sha256" in _settings(folder, files).get("extensions.objectformat", ()) else 20
    objects = Objects(folder, files.after.entries, files.new, size)
    paths = {one.path for one in repository.changed}
    inner = {path.removeprefix(f"{folder}/") for path in paths if path.startswith(f"{folder}/")}
    told = (
        tell_moves(place, repository.moves, refs, objects),
        _tell_stashes(repository, inner, files),
        tell_index(place, f"{folder}/index", "index", files, size) if "index" in inner else (),
        *(tell_settings(place, f"{folder}/{name}", "config", files) for name in _CONFIGS if name in inner),
        tell_hooks(place, folder, repository.changed, files),
        tell_worktrees(place, folder, inner, files, size),
        tell_notes(place, folder, repository.changed),
        _tell_reflogs(repository, inner, refs, files),
        _tell_pruned(repository, objects, files, size),
    )
    for part in told:
        yield from _guarded(place, part)


def _refs_of(place: str, snapshot: Snapshot) -> dict[str, str]:
    return {ref[len(place) + 1 :]: value for ref, value in snapshot.refs.items() if repository_of(ref) == place}


def _settings(folder: str, files: Files) -> Settings:
    try:
        return read_config(files.new(f"{folder}/config") or b"")
    except (Unreadable, ValueError):
        return {}


def _tell_stashes(repository: Repository, inner: set[str], files: Files) -> Iterator[StateDifference]:
    move = next((move for move in repository.moves if move.ref == STASH), None)
    log = f"logs/{STASH}"
    if move is None and log not in inner:
        return
    path = f"{repository.folder}/{log}"
    before = _stashes(files.old(path), files.before, repository.place)
    after = _stashes(files.new(path), files.after, repository.place)
    yield from tell_stashes(repository.place, before, after)


def _stashes(log: bytes | None, snapshot: Snapshot, place: str) -> list[str]:
    """Newest first; without a log what the ref names is the only one, and without the ref there is none."""
    ref = snapshot.refs.get(f"{place}:{STASH}")
    if ref is None:
        return []
    listed = [step.to for step in reversed(read_reflog(log or b""))]
    return listed or [ref]


def _tell_reflogs(
    repository: Repository, inner: set[str], refs: Mapping[str, str], files: Files
) -> Iterator[StateDifference]:
    """A line for each reflog that lost steps while its ref stays; a ref's own log goes with the ref."""
    for name in sorted(path.removeprefix("logs/") for path in inner if path.startswith("logs/")):
        path = f"{repository.folder}/logs/{name}"
        before = files.before.entries.get(path)
        if name not in refs or name == STASH or before is None or before.type != "file":
            continue
        lost = lost_steps(read_reflog(files.old(path) or b""), read_reflog(files.new(path) or b""))
        if lost:
            operation: Operation = "modified" if path in files.after.entries else "deleted"
            yield StateDifference("git", operation, repository.place, f"reflog/{name}", "reflog expired", amount=lost)


def _tell_pruned(repository: Repository, objects: Objects, files: Files, hash_size: int) -> Iterator[StateDifference]:
    gone = [object_id for object_id in _vanished(repository, files, hash_size) if not objects.holds(object_id)]
    if gone:
        _check_whole(f"{repository.folder}/objects", files)
        known = sorted(set(gone))
        yield StateDifference(
            "git", "deleted", repository.place, "object/pruned", "objects pruned", amount=len(known),
            samples=tuple(known[:5]),
        )  # fmt: skip
    damaged = [one.path for one in repository.changed if one.operation == "modified" and _is_object(one.path)]
    if damaged:
        yield StateDifference(
            "git", "modified", repository.place, "object/damaged", "objects overwritten", amount=len(damaged)
        )


def _check_whole(folder: str, files: Files) -> None:
    """Raise Unreadable when something below the folder could not be listed: what seems gone may lie there."""
    for path, entry in files.after.entries.items():
        if entry.error is not None and path.startswith(f"{folder}/"):
            raise Unreadable(f"{path}: {entry.error}")


def _is_object(path: str) -> bool:
    return loose_id(path) is not None or ("/objects/pack/" in path and path.endswith((".pack", ".idx")))


def _vanished(repository: Repository, files: Files, hash_size: int) -> Iterator[str]:
    """The ids of objects that lay loose or in a pack which is there no more."""
    packs: set[str] = set()
    for one in repository.changed:
        if one.operation != "deleted":
            continue
        object_id = loose_id(one.path)
        if object_id is not None:
            yield object_id
        elif "/objects/pack/" in one.path and one.path.endswith((".pack", ".idx")):
            packs.add(one.path.rpartition(".")[0])
    for pack in sorted(packs):
        if f"{pack}.idx" in files.before.entries and f"{pack}.pack" in files.before.entries:
            for raw in open_index(f"{pack}.idx", files.old, hash_size).ids():
                yield raw.hex()
