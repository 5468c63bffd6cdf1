"""The content of what was found: hashes, small texts, link targets, extended attributes."""

from __future__ import annotations

import hashlib
import json
import os
from typing import NamedTuple

from overeager.audit.snapshots.entry import Entry
from overeager.audit.snapshots.keeping import SQLITE_MAGIC, is_held
from overeager.audit.snapshots.walk import Latch, error_name

TEXT_LIMIT = 64 << 10
"""Bytes of the largest file whose text is kept."""

_LABELS = frozenset({"security.selinux", "security.ima", "security.evm"})
"""Attributes that the host itself puts on everything."""

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Content(NamedTuple):
    """What reading an entry gave."""

    entry: Entry
    text: str | None = None
    """Of a small UTF-8 file."""
    held: bytes | None = None
    """Its bytes, where it is small and its change is told by what it means."""
    is_database: bool = False
    """True = it begins like one of SQLite's."""


def read_entry(entry: Entry, latch: Latch) -> Content:
    """`entry` with its hash, target and attributes; with an error where it cannot be read."""
    try:
        return _read(entry)
    except PermissionError as error:
        if entry.key is not None and entry.type == "file" and latch.open(entry.host, entry.key):
            return read_entry(entry, latch)
        return Content(entry._replace(error=error_name(error)))
    except OSError as error:
        return Content(entry._replace(error=error_name(error)))


def read_bytes(entry: Entry, limit: int) -> bytes | None:
    """The first `limit` bytes of a regular file; None when it cannot be read."""
    try:
        descriptor = os.open(entry.host, _OPEN)
        with open(descriptor, "rb") as file:
            return file.read(limit)
    except OSError:
        return None


def _read(entry: Entry) -> Content:
    xattrs = _read_attributes(entry.host)
    if entry.type == "link":
        target = os.readlink(entry.host)  # noqa: PTH115  # the bytes as they are
        return Content(entry._replace(target=target, xattrs=xattrs))
    if entry.type != "file" or entry.key is None:
        return Content(entry if xattrs is None else entry._replace(xattrs=xattrs))
    descriptor = os.open(entry.host, _OPEN)
    if entry.key.size > TEXT_LIMIT:
        with open(descriptor, "rb", buffering=0) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            is_database = file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
        return Content(entry._replace(sha256=digest, xattrs=xattrs), is_database=is_database)
    try:
        data = _read_all(descriptor, entry.key.size)
    finally:
        os.close(descriptor)
    held = data if is_held(entry.path, data) else None
    entry = entry._replace(sha256=hashlib.sha256(data).hexdigest(), xattrs=xattrs)
    return Content(entry, _text(data), held, data.startswith(SQLITE_MAGIC))


def _read_all(descriptor: int, size: int) -> bytes:
    """All of a small file in one call, as a rule."""
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data
    chunks = [data]
    while chunks[-1]:
        chunks.append(os.read(descriptor, 1 << 20))
    return b"".join(chunks)


def _text(data: bytes) -> str | None:
    try:
        return data.decode() if len(data) <= TEXT_LIMIT else None
    except UnicodeDecodeError:
        return None


def _read_attributes(host: str) -> str | None:
    try:
        names = os.listxattr(host, follow_symlinks=False)
    except OSError:
        return None  # a file system without attributes
    kept = sorted(set(names) - _LABELS) if names else []
    if not kept:
        return None
    values = [[name, os.getxattr(host, name, follow_symlinks=False).hex()] for name in kept]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()
