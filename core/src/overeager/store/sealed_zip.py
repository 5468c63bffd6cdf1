"""A zip whose comment is the hash of all that stands before it, and what to say when it no longer is."""

from __future__ import annotations

import hashlib
import lzma
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO

from overeager.errors import OvereagerError
from overeager.store.regular import open_regular

SEAL_LENGTH = 64
"""Bytes of the comment: a SHA-256 in hexadecimal."""

_CHUNK = 1 << 20
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    OSError,
    struct.error,
)
"""What the zip library raises over bytes that are not as it wrote them; a changed bit can name another method."""


def hash_start(file: IO[bytes], length: int) -> str:
    """SHA-256 of the first `length` bytes of an open file."""
    hasher = hashlib.sha256()
    file.seek(0)
    while length and (piece := file.read(min(length, _CHUNK))):
        hasher.update(piece)
        length -= len(piece)
    return hasher.hexdigest()


def read_seal(path: Path) -> tuple[bytes, str]:
    """The seal that the file states and the one that it has."""
    try:
        with open_regular(path) as file:
            length = file.seek(0, os.SEEK_END) - SEAL_LENGTH
            if length < 0:
                raise no_bundle(path, "it is too short")
            file.seek(length)
            stated = file.read()
            return stated, hash_start(file, length)
    except FileNotFoundError as error:
        raise OvereagerError("BUN001", "there is no such bundle", where=path, cure="check the path") from error
    except OSError as error:
        raise OvereagerError(
            "BUN001", f"the bundle cannot be read: {error.strerror}", where=path, cure="check the path and its mode"
        ) from error


def open_zip(path: Path) -> zipfile.ZipFile:
    """The zip at `path`, to be closed by the caller; raises BUN002 when it is none."""
    try:
        return zipfile.ZipFile(path)
    except _BROKEN as error:
        raise no_bundle(path, str(error)) from error


def no_bundle(path: Path, why: str) -> OvereagerError:
    """BUN002: not a whole zip."""
    return OvereagerError(
        "BUN002",
        f"'{path.name}' is no whole bundle: {why}",
        where=path,
        cure="remove it and run the trial again with --resume",
    )


def damaged(path: Path, member: str | None, why: str) -> OvereagerError:
    """BUN003: changed, in `member` where that can be told."""
    what = f"member '{member}' of the bundle '{path.name}'" if member else f"the bundle '{path.name}'"
    return OvereagerError(
        "BUN003", f"{what} is not as sealed: {why}", where=path, cure="restore it from a copy, or run the trial again"
    )


def find_damage(path: Path) -> str | None:
    """The first member whose bytes are not as they were, where the zip still tells.

    Raises BUN002 when so little is left of the zip that it is cut rather than changed.
    """
    with open_zip(path) as archive:
        for name in archive.namelist():
            try:
                with archive.open(name) as member:
                    while member.read(_CHUNK):
                        pass
            except _BROKEN:
                return name
    return None


def unpack(path: Path, archive: zipfile.ZipFile, member: str, size: int) -> bytes:
    """The member's bytes; never more than one byte past `size` is unpacked."""
    try:
        with archive.open(member) as packed:
            data = packed.read(size + 1)
    except _BROKEN as error:
        raise damaged(path, member, str(error)) from error
    if len(data) > size:
        raise damaged(path, member, f"it is longer than {size} bytes")
    return data
