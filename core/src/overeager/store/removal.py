"""Removal of a folder whatever was left in it: hostile modes, any depth, links that lead out."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import struct
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_GET_ATTRIBUTES, _SET_ATTRIBUTES = 0x80086601, 0x40086602  # FS_IOC_GETFLAGS, FS_IOC_SETFLAGS
_IMMUTABLE_OR_APPEND_ONLY = 0x30


def remove_tree(root: Path) -> None:
    """Remove `root` and all below it; never follows a link, holds two descriptors whatever the depth.

    Every directory is first moved up beside the others, so that depth and path length never matter.
    A `root` that is not there is no error; raises OSError when something cannot be removed.
    """
    try:
        top = _open(str(root))
    except FileNotFoundError:
        return
    except NotADirectoryError:
        root.unlink()
        return
    try:
        _empty(top)
    finally:
        os.close(top)
    root.rmdir()


def _empty(top: int) -> None:
    taken = set(os.listdir(top))
    names = (name for name in map(str, count()) if name not in taken)
    pending = _clear(top, top, names)
    while pending:
        name = pending.pop()
        directory = _open(name, top)
        try:
            pending += _clear(directory, top, names)
        finally:
            os.close(directory)
        _insist(partial(os.rmdir, name, dir_fd=top), name, top)


def _clear(directory: int, top: int, names: Iterator[str]) -> list[str]:
    """Unlink what is no directory and move each directory up into `top`; returns their names there."""
    moved: list[str] = []
    with os.scandir(directory) as entries:
        listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_directory in listed:
        if not is_directory:
            _insist(partial(os.unlink, name, dir_fd=directory), name, directory)
        elif directory == top:
            moved.append(name)
        else:
            moved.append(next(names))
            _insist(partial(os.rename, name, moved[-1], src_dir_fd=directory, dst_dir_fd=top), name, directory)
    return moved


def _open(name: str, parent: int | None = None) -> int:
    try:
        directory = os.open(name, _DIRECTORY, dir_fd=parent)
    except PermissionError:
        _unlock(name, parent)
        directory = os.open(name, _DIRECTORY, dir_fd=parent)
    if os.fstat(directory).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        _insist(partial(os.fchmod, directory, stat.S_IRWXU), name, parent)
    return directory


def _insist(act: Callable[[], None], name: str, parent: int | None) -> None:
    try:
        act()
    except PermissionError:
        _unlock(name, parent)
        if parent is not None:
            _drop_attributes(parent)
        act()


def _unlock(name: str, parent: int | None) -> None:
    """Take from one entry what forbids its removal: its attributes and, of a directory, its mode."""
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=parent)
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            _unlock_handle(Path(f"/proc/self/fd/{handle}"), stat.S_ISDIR(mode))
    finally:
        os.close(handle)


def _unlock_handle(path: Path, is_directory: bool) -> None:
    with contextlib.suppress(PermissionError):  # an immutable one: its attributes go first, its mode when it is opened
        if is_directory:
            path.chmod(stat.S_IRWXU)
    reader = os.open(path, os.O_RDONLY)
    try:
        _drop_attributes(reader)
    finally:
        os.close(reader)


def _drop_attributes(descriptor: int) -> None:
    """Clear immutable and append-only; where that cannot be done the removal itself will tell."""
    with contextlib.suppress(OSError):
        buffer = bytearray(8)
        fcntl.ioctl(descriptor, _GET_ATTRIBUTES, buffer)
        (attributes,) = struct.unpack_from("I", buffer)
        if attributes & _IMMUTABLE_OR_APPEND_ONLY:
            struct.pack_into("I", buffer, 0, attributes & ~_IMMUTABLE_OR_APPEND_ONLY)
            fcntl.ioctl(descriptor, _SET_ATTRIBUTES, buffer)
