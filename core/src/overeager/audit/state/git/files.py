"""The parts of a repository that are files of their own: index, settings, hooks, worktrees, notes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from overeager.audit.snapshots.diff import Difference
from overeager.audit.state.files import Files, Unreadable
from overeager.audit.state.git.config import Settings, read_config
from overeager.audit.state.git.index import Index, Staged, read_index
from overeager.audit.state.line import Operation, StateDifference, operation_of

LINES_LIMIT = 1000
"""Entries of one index that are told one by one; what is beyond is told as a number."""

SETTINGS_LIMIT = 1 << 20
"""Bytes of the largest configuration file that is read."""

_NOTES = {
    "info/exclude": "exclude", "info/attributes": "attributes", "info/sparse-checkout": "sparse checkout",
    "info/grafts": "grafts", "objects/info/alternates": "alternates", "shallow": "shallow boundary",
}  # fmt: skip
_UNFINISHED = {
    "MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "BISECT_LOG": "bisect",
    "rebase-merge": "rebase", "rebase-apply": "rebase",
}  # fmt: skip
_EXECUTE = 0o111


def tell_index(place: str, path: str, name: str, files: Files, hash_size: int) -> Iterator[StateDifference]:
    """A line for each path whose staged content, mode or flags differ; raises Unreadable."""
    before, after = _open_index(path, files.old(path), hash_size), _open_index(path, files.new(path), hash_size)
    changed = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    for key in changed[:LINES_LIMIT]:
        old, new = before.get(key), after.get(key)
        words = _index_words(old, new)
        yield StateDifference(
            "git", operation_of(old, new), place, f"{name}/{key}", words, _staged_text(old), _staged_text(new)
        )
    if len(changed) > LINES_LIMIT:
        more = len(changed) - LINES_LIMIT
        yield StateDifference("git", "modified", place, name, "more index entries changed", amount=more)


def _open_index(path: str, data: bytes | None, hash_size: int) -> Index:
    try:
        return {} if not data else read_index(data, hash_size)
    except ValueError as error:
        raise Unreadable(f"{path}: {error}") from error


def _index_words(old: Sequence[Staged] | None, new: Sequence[Staged] | None) -> str:
    if old is None or new is None:
        return "index entry added" if old is None else "index entry removed"
    only_flags = [entry[:4] for entry in old] == [entry[:4] for entry in new]
    return "index flag changed" if only_flags else "index entry changed"


def _staged_text(entries: Sequence[Staged] | None) -> str | None:
    if entries is None:
        return None
    return ", ".join(" ".join((f"{entry.mode:o}", entry.id, *entry.flags)) for entry in entries)


def tell_settings(place: str, path: str, name: str, files: Files) -> Iterator[StateDifference]:
    """A line for each setting of a configuration file that differs in meaning; raises Unreadable."""
    old_data, new_data = files.old(path), files.new(path)
    if max(len(old_data or b""), len(new_data or b"")) > SETTINGS_LIMIT:
        raise Unreadable(f"{path}: too big to be compared")
    try:
        before, after = read_config(old_data or b""), read_config(new_data or b"")
    except ValueError:
        yield StateDifference("git", operation_of(old_data, new_data), place, name, f"{_prefix(name)}config changed")
        return
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old != new:
            verb = {"created": "set", "deleted": "unset", "modified": "changed"}[operation_of(old, new)]
            yield StateDifference(
                "git", operation_of(old, new), place, f"{name}/{key}", f"{_prefix(name)}config {verb}",
                None if old is None else "\n".join(old), None if new is None else "\n".join(new),
            )  # fmt: skip


def _prefix(name: str) -> str:
    return "global " if name.startswith("global") else ""


def hook_folders(folders: Iterable[str], files: Files) -> dict[str, tuple[str, ...]]:
    """Each folder in the work tree that a repository's settings name for hooks, with the repositories' folders."""
    found: dict[str, tuple[str, ...]] = {}
    for folder in sorted(folders):
        for settings in _both_settings(folder, files):
            for value in settings.get("core.hookspath", ()):
                named = posixpath.normpath(posixpath.join(folder.removesuffix("/.git"), value))
                found[named] = (*found.get(named, ()), folder)
    return {named: tuple(dict.fromkeys(holders)) for named, holders in found.items()}


def _both_settings(folder: str, files: Files) -> Iterator[Settings]:
    path = f"{folder}/config"
    old, new = files.before.entries.get(path), files.after.entries.get(path)
    reads = (files.old, files.new) if old and new and old.sha256 != new.sha256 else (files.old if old else files.new,)
    for read in reads:
        try:
            data = read(path) or b""
            if b"hookspath" in data.lower():
                yield read_config(data)
        except (Unreadable, ValueError):
            continue


def tell_hooks(place: str, folder: str, changed: Sequence[Difference], files: Files) -> Iterator[StateDifference]:
    """A line for each hook that came, went, was rewritten or lost its leave to run; samples are no hooks."""
    for one in changed:
        inside = one.path.startswith(f"{folder}/")
        if inside and not one.path.startswith(f"{folder}/hooks/"):
            continue
        if one.path.endswith(".sample") or one.type == "directory" or one.operation in ("attributes", "ref"):
            continue
        name = one.path.removeprefix(f"{folder}/hooks/") if inside else posixpath.relpath(one.path, place)
        yield StateDifference("git", _operation(one), place, f"hook/{name}", _hook_words(one), one.before, one.after)


def _operation(one: Difference) -> Operation:
    return one.operation if one.operation in ("created", "deleted") else "modified"


def _hook_words(one: Difference) -> str:
    if one.operation != "mode":
        verbs = {"created": "created", "deleted": "deleted"}
        return f"hook {verbs.get(one.operation, 'changed')}"
    old, new = (bool(int(mode or "0", 8) & _EXECUTE) for mode in (one.before, one.after))
    return "hook mode changed" if old == new else "hook enabled" if new else "hook disabled"


def tell_worktrees(place: str, folder: str, inner: set[str], files: Files, hash_size: int) -> Iterator[StateDifference]:
    """A line for each linked worktree that came or went, and for what is staged in those that stay."""
    names = {path.split("/")[1] for path in inner if path.startswith("worktrees/")}
    for name in sorted(names):
        own = f"{folder}/worktrees/{name}"
        was, stays = (f"{own}/gitdir" in snapshot.entries for snapshot in (files.before, files.after))
        if was != stays:
            words = "worktree added" if stays else "worktree removed"
            yield StateDifference("git", "created" if stays else "deleted", place, f"worktree/{name}", words)
        elif stays and f"worktrees/{name}/index" in inner:
            yield from tell_index(place, f"{own}/index", f"worktree/{name}/index", files, hash_size)
        if was and stays and f"worktrees/{name}/HEAD" in inner:
            old, new = (
                (read(f"{own}/HEAD") or b"").decode("utf-8", "replace").strip() for read in (files.old, files.new)
            )
            yield StateDifference("git", "modified", place, f"worktree/{name}/head", "head switched", old, new)


def tell_notes(place: str, folder: str, changed: Sequence[Difference]) -> Iterator[StateDifference]:
    """A line for what git is told to leave out or to borrow, and for a merge or the like that was left unfinished."""
    known: Mapping[str, str] = {f"{folder}/{path}": words for path, words in _NOTES.items()}
    for one in changed:
        name = one.path.removeprefix(f"{folder}/")
        if one.path in known and one.operation in ("created", "modified", "deleted", "type"):
            note = f"info/{posixpath.basename(name)}"
            words = f"{known[one.path]} changed"
            yield StateDifference("git", _operation(one), place, note, words, one.before, one.after)
        elif name in _UNFINISHED and one.operation in ("created", "deleted"):
            words = "operation begun" if one.operation == "created" else "operation ended"
            yield StateDifference("git", one.operation, place, f"operation/{_UNFINISHED[name]}", words)
