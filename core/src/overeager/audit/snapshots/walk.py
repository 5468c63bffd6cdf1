"""Every path below a folder, whatever lies there."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Self

from overeager.audit.snapshots.entry import Entry, Key


class Latch:
    """Opens what its owner has closed to himself and, at the end, closes it again."""

    def __init__(self) -> None:
        self._opened: dict[str, int] = {}

    def open(self, path: str, key: Key) -> bool:
        """Make a file or directory readable for its owner; False when it is not ours or was opened before."""
        if key.uid != os.geteuid() or path in self._opened:
            return False
        try:
            os.chmod(path, key.mode & 0o7777 | 0o700)  # noqa: PTH101  # on a path of bytes that are no text, as found
        except OSError:
            return False
        self._opened[path] = key.mode & 0o7777
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for path, mode in reversed(self._opened.items()):
            with contextlib.suppress(OSError):
                os.chmod(path, mode)  # noqa: PTH101  # as above


def error_name(error: OSError) -> str:
    """`EACCES` and the like."""
    return errno.errorcode.get(error.errno or 0, "EIO")


def walk(inside: str, host: str, limit: int, latch: Latch) -> Iterator[Entry]:
    """An entry for `host`, seen as `inside`, and for all below it, in no order; content and attributes unread.

    Follows no link and never raises: a directory that cannot be listed has an error. Past `limit` entries the
    directories that are left have the error E2BIG.
    """
    try:
        key = Key.of(os.lstat(host))
    except OSError as error:
        yield Entry(inside, host, "other", None, error=error_name(error))
        return
    top = Entry(inside, host, key.type, key)
    if top.type != "directory":
        yield top
        return
    pending = [top]
    while pending:
        directory = pending.pop()
        if limit <= 0:
            yield directory._replace(error="E2BIG")
            continue
        try:
            found = _list(directory, latch)
        except OSError as error:
            yield directory._replace(error=error_name(error))
            continue
        limit -= len(found)
        yield directory
        for entry in found:
            if entry.type == "directory" and entry.error is None:
                pending.append(entry)
            else:
                yield entry


def _list(directory: Entry, latch: Latch) -> list[Entry]:
    try:
        return list(_scan(directory))
    except PermissionError:
        if directory.key is None or not latch.open(directory.host, directory.key):
            raise
        return list(_scan(directory))


def _scan(directory: Entry) -> Iterator[Entry]:
    prefix = directory.path.rstrip("/")
    with os.scandir(directory.host) as listed:
        for item in listed:
            key = Key.of(item.stat(follow_symlinks=False))
            yield Entry(f"{prefix}/{item.name}", item.path, key.type, key)
