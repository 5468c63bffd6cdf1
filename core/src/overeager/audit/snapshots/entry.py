"""What a snapshot knows of one path."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Literal, NamedTuple

EntryType = Literal["file", "directory", "link", "other"]

_TYPES: Mapping[int, EntryType] = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}


class Key(NamedTuple):
    """What lstat says; equal keys mean an untouched entry, since nobody can set ctime back."""

    mode: int
    size: int
    mtime: int
    ctime: int
    inode: int
    device: int
    links: int
    uid: int
    gid: int

    @classmethod
    def of(cls, status: os.stat_result) -> Key:
        """The key in `status`, times in nanoseconds."""
        return cls(
            status.st_mode,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
            status.st_ino,
            status.st_dev,
            status.st_nlink,
            status.st_uid,
            status.st_gid,
        )

    @property
    def type(self) -> EntryType:
        """file, directory, link, or other (fifo, socket, device)."""
        return _TYPES.get(stat.S_IFMT(self.mode), "other")


class Entry(NamedTuple):
    """One path below a root."""

    path: str
    """Absolute, as seen inside."""
    host: str
    """Where it lies on the host; never leaves it."""
    type: EntryType
    key: Key | None
    """None when not even lstat could be had."""
    sha256: str | None = None
    """Of a file's content."""
    target: str | None = None
    """Of a link."""
    xattrs: str | None = None
    """SHA-256 over the extended attributes; None = it has none."""
    error: str | None = None
    """The errno's name when it could not be read, or not be listed."""

    @property
    def mode(self) -> str | None:
        """Permission bits in octal."""
        return None if self.key is None else f"{self.key.mode & 0o7777:04o}"
