"""A tree as one value: every path with its bytes, mode and time, to be written to disk as often as needed."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from overeager import canonical
from overeager.contract.effects import Identity
from overeager.errors import OvereagerError

NodeType = Literal["directory", "file", "link", "name"]


class Node(NamedTuple):
    """One path of a tree."""

    path: str
    """Relative to the root; empty = the root itself."""
    type: NodeType
    """`name` = a second name (hard link) of the file `target`."""
    mode: int
    mtime: int
    """Seconds since the epoch."""
    data: bytes = b""
    target: str = ""
    """A link's text; of a second name, the path of the first."""


Tree = tuple[Node, ...]
"""Sorted by path: what lies in a directory comes after it."""


def grow(nodes: Mapping[str, Node], root_mode: int, empty_time: int) -> Tree:
    """The tree of `nodes` (by path) with the directories that they imply; 0755, as new as what lies in them.

    `empty_time` dates directories that are empty. Raises STO006 when a path lies below what is no directory, or a hard
    link names no file.
    """
    whole = dict(nodes)
    for path in nodes:
        for folder in _folders_of(path):
            found = whole.setdefault(folder, Node(folder, "directory", 0o755 if folder else root_mode, 0))
            if found.type != "directory":
                raise OvereagerError(
                    "STO006", f"'{path}' lies below '{folder}', which is a {found.type}", cure="rename one of the two"
                )
    for node in nodes.values():
        if node.type == "name" and (node.target not in nodes or nodes[node.target].type != "file"):
            raise OvereagerError("STO006", f"'{node.path}' is a hard link to '{node.target}', which is no file")
    return _date_directories(whole, empty_time)


def pack(tree: Tree) -> bytes:
    """`tree` as bytes; equal trees give equal bytes."""
    rows = [[node.path, node.type, node.mode, node.mtime, len(node.data), node.target] for node in tree]
    head = canonical.dump(rows)
    body = b"%d\n" % len(head) + head + b"".join(node.data for node in tree)
    return canonical.sha256(body).encode() + b"\n" + body


def unpack(packed: bytes) -> Tree:
    """The tree that `pack` wrote; raises STO008 when a byte has changed."""
    seal, _, body = packed.partition(b"\n")
    if canonical.sha256(body).encode() != seal:
        raise OvereagerError("STO008", "a fixture in the cache is damaged", cure="remove the cache's folder `trees`")
    length, _, rest = body.partition(b"\n")
    nodes, start = [], int(length)
    for path, node_type, mode, mtime, size, target in json.loads(rest[:start]):
        nodes.append(Node(path, node_type, mode, mtime, rest[start : start + size], target))
        start += size
    return tuple(nodes)


def lay(tree: Iterable[Node], root: Path, identity: Identity) -> None:
    """Write `tree` below the existing folder `root`, owned by `identity`; modes and times are exactly the tree's.

    Directories may be there already. Raises OSError, FileExistsError among them: no file is written over.
    """
    top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        nodes = tuple(tree)
        for node in nodes:
            _lay_node(node, top, identity)
        for node in nodes:
            if node.type == "name":
                os.link(node.target, node.path, src_dir_fd=top, dst_dir_fd=top, follow_symlinks=False)
        for node in reversed(nodes):
            if node.type == "directory":
                _settle_directory(node, top, identity)
    finally:
        os.close(top)


def _settle_directory(node: Node, top: int, identity: Identity) -> None:
    """Give a directory its owner, mode and time, once all that lies in it is written."""
    path = node.path or "."
    if identity.drop:
        os.chown(path, identity.uid, identity.gid, dir_fd=top)
    os.chmod(path, node.mode, dir_fd=top)
    os.utime(path, (node.mtime, node.mtime), dir_fd=top)


def _lay_node(node: Node, top: int, identity: Identity) -> None:
    if node.type == "directory":
        with contextlib.suppress(FileExistsError):
            os.mkdir(node.path or ".", 0o700, dir_fd=top)
    elif node.type == "file":
        _lay_file(node, top, identity)
    elif node.type == "link":
        os.symlink(node.target, node.path, dir_fd=top)
        if identity.drop:
            os.chown(node.path, identity.uid, identity.gid, dir_fd=top, follow_symlinks=False)
        os.utime(node.path, (node.mtime, node.mtime), dir_fd=top, follow_symlinks=False)


def _lay_file(node: Node, top: int, identity: Identity) -> None:
    descriptor = os.open(node.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=top)
    try:
        rest = memoryview(node.data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if identity.drop:
            os.fchown(descriptor, identity.uid, identity.gid)
        os.fchmod(descriptor, node.mode)
        os.utime(descriptor, (node.mtime, node.mtime))
    finally:
        os.close(descriptor)


def _folders_of(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts) + 1)] if path else []


def _date_directories(whole: dict[str, Node], empty_time: int) -> Tree:
    for path in sorted(whole, key=lambda path: (-path.count("/") if path else 1, path)):
        node = whole[path]
        if node.type == "directory":
            newest = max(_times_inside(path, whole), default=empty_time)
            whole[path] = node._replace(mtime=newest)
    return tuple(whole[path] for path in sorted(whole, key=lambda path: path.split("/") if path else []))


def _times_inside(folder: str, whole: Mapping[str, Node]) -> list[int]:
    return [node.mtime for path, node in whole.items() if path and path.rpartition("/")[0] == folder]
