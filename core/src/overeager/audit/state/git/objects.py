"""A repository's objects, read without git: which are there, and the ancestry of commits."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from overeager.audit.snapshots.entry import Entry
from overeager.audit.state.files import Unreadable
from overeager.audit.state.git.pack import OBJECT_LIMIT, PackIndex, inflate, read_commit

PACKS_BUDGET = 256 << 20
"""Bytes of packs and their indexes that are read of one repository."""

WALK_LIMIT = 50_000
"""Commits that a search for an ancestor visits at most."""

_LOOSE = re.compile(r"/objects/([0-9a-f]{2})/([0-9a-f]{38}|[0-9a-f]{62})$")
_PARENT = re.compile(rb"parent (?:[0-9a-f]{40}|[0-9a-f]{64})")
_HEADER_LIMIT = 256

Read = Callable[[str], "bytes | None"]
"""A path to the file's bytes, None where there is no file; raises Unreadable."""

Parents = Callable[[str], "tuple[str, ...] | None"]
"""A commit to its parents, None where it cannot be read."""


class Pack(NamedTuple):
    """A pack that has its index beside it."""

    contents: PackIndex
    path: str


class Objects:
    """The objects of one repository at one moment; what it borrows from others is not looked at."""

    def __init__(self, folder: str, entries: Mapping[str, Entry], read: Read, hash_size: int = 20) -> None:
        self._folder, self._entries, self._read, self._size = folder, entries, read, hash_size
        self._room = PACKS_BUDGET
        self._indexes: list[Pack] | None = None
        self._packs: dict[str, bytes | None] = {}

    def holds(self, object_id: str) -> bool:
        """Whether the object is there, loose or packed; raises Unreadable when a pack's index cannot be read."""
        if self._loose_path(object_id) in self._entries:
            return True
        return any(pack.contents.offset(bytes.fromhex(object_id)) is not None for pack in self._all_indexes())

    def parents(self, commit: str) -> tuple[str, ...] | None:
        """The commit's parents; None when it is not there or cannot be read as a commit."""
        try:
            body = self._read_loose(commit) or self._read_packed(commit)
        except Unreadable:
            return None
        return None if body is None else tuple(_parents(body))

    def _loose_path(self, object_id: str) -> str:
        return f"{self._folder}/objects/{object_id[:2]}/{object_id[2:]}"

    def _read_loose(self, commit: str) -> bytes | None:
        data = self._read(self._loose_path(commit))
        whole = None if data is None else inflate(data, OBJECT_LIMIT)
        head, _, body = (whole or b"").partition(b"\0")
        return body if head.startswith(b"commit ") and len(head) < _HEADER_LIMIT else None

    def _read_packed(self, commit: str) -> bytes | None:
        for pack in self._all_indexes():
            offset = pack.contents.offset(bytes.fromhex(commit))
            if offset is None:
                continue
            if pack.path not in self._packs:
                self._packs[pack.path] = self._read_big(pack.path)
            data = self._packs[pack.path]
            body = None if data is None else read_commit(data, pack.contents, offset, self._size)
            if body is not None:
                return body
        return None

    def _all_indexes(self) -> list[Pack]:
        if self._indexes is None:
            found = self._index_paths()
            self._indexes = [Pack(open_index(path, self._read_big, self._size), pack) for path, pack in found]
        return self._indexes

    def _read_big(self, path: str) -> bytes | None:
        data = self._read(path)
        self._room -= len(data or b"")
        if self._room < 0:
            raise Unreadable(f"{self._folder}: its packs hold more than is read")
        return data

    def _index_paths(self) -> Iterator[tuple[str, str]]:
        """Each index whose pack is there, with the pack."""
        for path in self._entries:
            if path.startswith(f"{self._folder}/objects/pack/") and path.endswith(".idx"):
                pack = path.removesuffix(".idx") + ".pack"
                if pack in self._entries:
                    yield path, pack


def open_index(path: str, read: Read, hash_size: int = 20) -> PackIndex:
    """The pack's index in the file; raises Unreadable."""
    data = read(path)
    if data is None:
        raise Unreadable(f"{path}: is not there")
    try:
        return PackIndex(data, hash_size)
    except ValueError as error:
        raise Unreadable(f"{path}: {error}") from error


def loose_id(path: str) -> str | None:
    """The id of the loose object that lies at `path`."""
    found = _LOOSE.search(path)
    return None if found is None else found[1] + found[2]


def descends(new: str, old: str, parents: Parents) -> bool | None:
    """Whether `old` is `new` or one of its ancestors; None when some commit on the way cannot be read."""
    walk = _walk([new], parents, frozenset(), goal=old)
    return True if old in walk.found else None if walk.blind else False


def count_lost(tip: str, kept: Iterable[str], parents: Parents) -> int | None:
    """How many commits that `tip` reaches none of `kept` does; None when that cannot be told."""
    reached = _walk(sorted(kept), parents, frozenset())
    lost = _walk([tip], parents, reached.found)
    return None if reached.blind or lost.blind else len(lost.found)


class _Walk(NamedTuple):
    found: frozenset[str]
    """The starts and their ancestors."""
    blind: bool
    """True = some could not be read, or there were too many."""


def _walk(starts: Iterable[str], parents: Parents, known: frozenset[str], goal: str | None = None) -> _Walk:
    """From `starts` back to the roots, not into what is `known`, as far as `goal`."""
    waiting = deque(start for start in starts if start not in known)
    found, blind = set(waiting), False
    while waiting and goal not in found:
        above = parents(waiting.popleft())
        if above is None or len(found) > WALK_LIMIT:
            blind = True
            continue
        fresh = [parent for parent in above if parent not in found and parent not in known]
        found.update(fresh)
        waiting.extend(fresh)
    return _Walk(frozenset(found), blind)


def _parents(body: bytes) -> Iterator[str]:
    """The parents that a commit's header names, which stand right behind its tree."""
    for line in body.split(b"\n"):
        if _PARENT.fullmatch(line):
            yield line[7:].decode()
        elif not line.startswith(b"tree "):
            return
