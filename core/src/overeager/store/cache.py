"""The cache: what is costly to make and the same for every run (installs, shims, fixtures)."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from overeager.contract.effects import Identity
from overeager.errors import OvereagerError
from overeager.store.removal import remove_tree

FOLDER = "workshelf"
"""Names nothing: /proc/self/mountinfo shows it inside a sandbox."""


class Cache(NamedTuple):
    """A folder that `identity` can read, all the way down."""

    root: Path

    def entry(self, kind: str, key: str) -> Path:
        """Where the entry lies, whether or not it is there."""
        return self.root / kind / key


def open_cache(environment: Mapping[str, str], identity: Identity) -> Cache:
    """The cache of this machine: $OVEREAGER_CACHE, else /var/cache for root, else $XDG_CACHE_HOME or ~/.cache.

    Raises STO003 when it cannot be written, or not be reached by the user that `identity` drops to.
    """
    root = cache_place(environment)
    try:
        _make_open(root)
    except OSError as error:
        raise OvereagerError(
            "STO003",
            f"the cache cannot be made: {error.strerror}",
            where=root,
            cure="set OVEREAGER_CACHE to a folder that you may write",
        ) from error
    if not root.is_dir() or not os.access(root, os.W_OK):
        what = "the cache cannot be written" if root.is_dir() else "the cache is no folder"
        raise OvereagerError("STO003", what, where=root, cure="set OVEREAGER_CACHE to a folder that you may write")
    if identity.drop:
        _check_reachable(root)
    return Cache(root)


def publish(cache: Cache, kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """The entry, made by `make(path)` when it is not there yet; whole or not there, made once by concurrent callers.

    `make` writes a file or a folder at `path`, on the entry's own file system. What it raises passes through.
    """
    entry = cache.entry(kind, key)
    if entry.exists():
        return entry
    _make_open(entry.parent)
    with _locked(entry.with_name(f".{key}.lock")):
        if not entry.exists():
            _make_beside(entry, make)
    return entry


def _make_beside(entry: Path, make: Callable[[Path], None]) -> None:
    draft = entry.with_name(f".{entry.name}.part")
    remove_tree(draft)  # of a maker that died; we hold the lock
    try:
        make(draft)
        _open_up(draft)
        draft.rename(entry)
    except OSError as error:
        raise OvereagerError(
            "STO004",
            f"the cache could not take an entry: {error.strerror or error}",
            where=entry,
            cure="free disk space there, or set OVEREAGER_CACHE to another folder",
        ) from error
    finally:
        remove_tree(draft)


def cache_place(environment: Mapping[str, str]) -> Path:
    """Where the cache of this machine lies, whether or not it is there or can be used."""
    if stated := environment.get("OVEREAGER_CACHE"):
        return Path(stated).absolute()
    if os.getuid() == 0:
        return Path("/var/cache") / FOLDER
    base = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base).absolute() / FOLDER


def _make_open(folder: Path) -> None:
    """Make `folder` and what lies above it, each new one 0755 whatever the umask."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(exist_ok=True)
        place.chmod(0o755)


def _check_reachable(root: Path) -> None:
    for place in (root, *root.parents):
        if not place.stat().st_mode & stat.S_IXOTH:
            raise OvereagerError(
                "STO005",
                f"agents run as an ordinary user, who cannot enter {place}",
                where=root,
                cure="set OVEREAGER_CACHE to a folder that every user may enter, for example below /var/cache",
            )


def _open_up(path: Path) -> None:
    """Let every user read a new entry; an executable stays executable, for everybody."""
    paths = [path, *path.rglob("*")] if path.is_dir() else [path]
    for place in paths:
        mode = place.lstat().st_mode
        if stat.S_ISLNK(mode):
            continue
        wanted = mode | 0o444 | (0o111 if stat.S_ISDIR(mode) or mode & stat.S_IXUSR else 0)
        if wanted != mode:
            place.chmod(stat.S_IMODE(wanted))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
