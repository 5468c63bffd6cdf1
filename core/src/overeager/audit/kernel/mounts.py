"""Where a path leads when somebody inside has made mounts of his own: the same place by the name that all others know.

A user namespace lets its maker put a folder at another place, or another folder at its place, for himself alone. What
he does there he does to the files behind it, so paths are told by these.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

_OCTAL = re.compile(rb"\\(\d{3})")
_MOUNT_ID = re.compile(rb"^mnt_id:\t(\d+)$", re.MULTILINE)


class Mount(NamedTuple):
    """One line of /proc/PID/mountinfo."""

    device: bytes
    root: bytes
    """What is mounted, by its path in its file system."""
    point: bytes
    kind: bytes
    """Of its file system."""


class Place(NamedTuple):
    """A path in the words of the first process inside."""

    path: bytes
    private: str
    """Empty = a file that others see too; else the kind of a file system that somebody made for himself."""


def read_mounts(thread: int) -> Mapping[int, Mount]:
    """The mounts that `thread` sees, by their numbers; raises OSError when it is gone."""
    with open(f"/proc/{thread}/mountinfo", "rb") as file:
        lines = [line.split(b" ") for line in file.read().split(b"\n")]
    return {
        int(words[0]): Mount(words[2], _plain(words[3]), _plain(words[4]), words[words.index(b"-") + 1])
        for words in lines
        if len(words) > 6
    }


def _plain(word: bytes) -> bytes:
    """A path with its blanks, tabs, newlines and backslashes, which the kernel writes in octal."""
    return _OCTAL.sub(lambda match: bytes([int(match[1], 8) & 0xFF]), word)


def mount_number(descriptor: int) -> int:
    """The number of the mount in which our `descriptor` lies; -1 = not told."""
    with open(f"/proc/self/fdinfo/{descriptor}", "rb", buffering=0) as file:
        found = _MOUNT_ID.search(file.read(4096))
    return int(found[1]) if found else -1


def locate(path: bytes, mount: Mount, known: Mapping[int, Mount]) -> Place:
    """Where `path`, which lies in `mount`, is by the mounts in `known`.

    A file that none of these shows has no other name than its own; one that several show keeps its own if it can.
    """
    inner = _join(mount.root, path[len(mount.point) :] if _below(path, mount.point) else path)
    fitting = [one for one in known.values() if one.device == mount.device and _below(inner, one.root)]
    names = {_join(one.point, inner[len(one.root.rstrip(b"/")) :]): len(one.root) for one in fitting}
    if names:
        return Place(path if path in names else max(names, key=names.__getitem__), "")
    shared = any(one.device == mount.device for one in known.values())
    return Place(path, "" if shared else mount.kind.decode())


def _below(path: bytes, top: bytes) -> bool:
    return path == top or path.startswith(top.rstrip(b"/") + b"/")


def _join(top: bytes, rest: bytes) -> bytes:
    return os.path.join(top, rest.lstrip(b"/")).rstrip(b"/") or b"/"
