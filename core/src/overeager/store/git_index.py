"""Git's index without what differs from one copy to the next, so that every copy of a repository has equal bytes."""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path

_HEAD = struct.Struct(">4sII")
_STAT = struct.Struct(">10I")
_FIXED = 62
"""Bytes before an entry's name: ten words of stat data, the object's id, two bytes that end in the name's length."""


def settle_index(index: bytes, worktree: Path) -> bytes:
    """`index` (version 2) with owner, inode, device and ctime blanked, and the mtime of files that differ.

    With `core.checkStat = minimal` git compares mtime and size alone: files that have the indexed content are
    known as clean without being read, in every copy that keeps the times, and nothing makes git write the index
    anew. Raises ValueError for another version.
    """
    magic, version, count = _HEAD.unpack_from(index)
    if magic != b"DIRC" or version != 2:
        raise ValueError(f"an index of version {version}, not 2")
    settled = bytearray(index[:-20])
    start = _HEAD.size
    for _ in range(count):
        start = _settle_entry(settled, start, worktree)
    return bytes(settled) + hashlib.sha1(settled, usedforsecurity=False).digest()


def _settle_entry(settled: bytearray, start: int, worktree: Path) -> int:
    """Settle the entry at `start`; returns where the next one starts."""
    name = bytes(settled[start + _FIXED : settled.index(0, start + _FIXED)])
    _ctime, _ctime_ns, mtime, _mtime_ns, _device, _inode, mode, _uid, _gid, size = _STAT.unpack_from(settled, start)
    if not _is_fresh(worktree / os.fsdecode(name), mtime, size):
        mtime, size = 0, 0  # as read-tree leaves an entry: git looks at the content
    _STAT.pack_into(settled, start, 0, 0, mtime, 0, 0, 0, mode, 0, 0, size)
    return start + (_FIXED + len(name) + 8) // 8 * 8


def _is_fresh(path: Path, mtime: int, size: int) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return int(status.st_mtime) == mtime and status.st_size == size
