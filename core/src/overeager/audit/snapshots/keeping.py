"""Which bytes of a first snapshot are held, so that what changes in them can be read when they are gone."""

from __future__ import annotations

import re

HELD_LIMIT = 64 << 20
"""Bytes of the largest file that is held."""

HELD_BUDGET = 256 << 20
"""Bytes that one snapshot holds at most."""

SQLITE_MAGIC = b"SQLite format 3\x00"

COMPANIONS = ("-wal", "-journal")
"""What SQLite keeps beside a database."""

_OF_GIT = re.compile(r"/(?:index|config|config\.worktree|logs/.+|.+\.idx|sharedindex\.[0-9a-f]+)$", re.DOTALL)


def is_held(path: str, head: bytes) -> bool:
    """Whether a file, by its path and its first bytes, is one whose change is told by what it means."""
    if head.startswith(SQLITE_MAGIC) or path.endswith(COMPANIONS):
        return True
    return _OF_GIT.search(path) is not None
