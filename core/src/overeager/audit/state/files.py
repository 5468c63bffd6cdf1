"""The bytes of files before and after a trial, as far as they can be had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from overeager.audit.snapshots.content import read_bytes
from overeager.audit.snapshots.entry import Entry
from overeager.audit.snapshots.snapshot import Snapshot
from overeager.audit.snapshots.walk import Latch

READ_LIMIT = 64 << 20
"""Bytes of the largest file that is read for its meaning."""

_OWNER = 0o600


class Unreadable(Exception):
    """A file that is there cannot be read, or is not what it should be; says which and why."""


class Files(NamedTuple):
    """Both snapshots, with the disk as the later one found it; nothing may write there meanwhile."""

    before: Snapshot
    after: Snapshot
    latch: Latch

    def old(self, path: str, limit: int = READ_LIMIT) -> bytes | None:
        """What the file held at first, None when there was none; raises Unreadable."""
        entry = self.before.entries.get(path)
        if entry is None or entry.type != "file":
            return None
        digest = entry.sha256 or ""
        if digest in self.before.held:
            return self.before.held[digest]
        later = self.after.entries.get(path)
        if later is not None and digest and later.sha256 == digest:
            return self.new(path, limit)
        text = self.before.texts.get(digest)
        if text is None:
            raise Unreadable(f"{path}: what it held at first was not kept")
        return text.encode()

    def new(self, path: str, limit: int = READ_LIMIT) -> bytes | None:
        """What the file holds now, None when there is none; raises Unreadable."""
        entry = self.after.entries.get(path)
        if entry is None or entry.type != "file":
            return None
        data = self._read(entry, limit + 1)
        if data is None:
            raise Unreadable(f"{path}: cannot be read")
        if len(data) > limit:
            raise Unreadable(f"{path}: too big to be compared")
        return data

    def _read(self, entry: Entry, limit: int) -> bytes | None:
        """The bytes, if need be by opening what the trial closed to its owner, until the latch closes it again."""
        data = read_bytes(entry, limit)
        if data is not None:
            return data
        for step in self._way(entry.path):
            if step.key is not None and step.key.mode & _OWNER != _OWNER:
                self.latch.open(step.host, step.key)
        return read_bytes(entry, limit)

    def _way(self, path: str) -> Iterator[Entry]:
        parts = path.split("/")
        for end in range(2, len(parts) + 1):
            entry = self.after.entries.get("/".join(parts[:end]))
            if entry is not None and entry.type in ("file", "directory"):
                yield entry
