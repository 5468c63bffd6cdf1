"""Rooms: one trial's private folders on the host, under a name that tells nothing."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import stat
from pathlib import Path

from overeager.contract.effects import Identity, Room
from overeager.errors import OvereagerError
from overeager.store.locks import is_locked
from overeager.store.removal import remove_tree

_NAME = re.compile(r"[0-9a-f]{8}")
_FOLDERS = {".": 0o700, "home": 0o755, "tmp": 0o1777, "run": 0o755}
"""What a room holds and its modes, each after what it lies in."""
_READ_ONLY_FOLDERS = {
    "etc": 0o755,
    "local": 0o755,
    "local/bin": 0o755,
    "local/lib": 0o755,
    "local/libexec": 0o755,
}
"""What rooms may share."""


def open_room(parent: Path | None, identity: Identity, shared: Room | None = None) -> Room:
    """A fresh room `<parent>/<8 hex>` (0700, owned by `identity`), locked until `close_room` or the caller's end.

    `parent` None = `default_parent`; its etc and local are those of `shared` where that is given. Raises STO001 when
    no such folder can be had.
    """
    base = default_parent(identity) if parent is None else parent
    try:
        base.mkdir(mode=0o711, parents=True, exist_ok=True)
        _check_own(base)
        lock, root = _claim(base)
        return _furnish(root, lock, identity, shared)
    except OSError as error:
        raise OvereagerError(
            "STO001",
            f"a trial's folders cannot be made: {error.strerror}",
            where=base,
            cure="set TMPDIR to a folder with room that every user may enter",
        ) from error


def close_room(room: Room) -> None:
    """Remove the room with all that is in it, then give up its lock; raises STO002 when something stays."""
    try:
        _discard(room.root)
    finally:
        if room.lock >= 0:
            os.close(room.lock)


def sweep(parent: Path | None) -> int:
    """Remove the rooms below `parent` (None = `default_parent` of the caller) whose owners are dead; how many."""
    base = default_parent(Identity(os.getuid(), os.getgid(), drop=False)) if parent is None else parent
    if not base.is_dir():
        return 0
    _check_own(base)
    return sum(_sweep_one(base / name) for name in room_names(base))


def room_names(parent: Path) -> tuple[str, ...]:
    """The rooms below `parent`, whoever owns them; a lock file without its room counts too."""
    stems = {entry.name.removesuffix(".lock") for entry in parent.iterdir()}
    return tuple(stem for stem in sorted(stems) if _NAME.fullmatch(stem))


def is_abandoned(root: Path) -> bool:
    """Whether the room's owner is dead."""
    return not is_locked(_lock_path(root))


def default_parent(identity: Identity) -> Path:
    """`<tmp>/w<uid of the caller>` below the first of $TMPDIR, /tmp, /var/tmp that `identity` can enter."""
    wanted = os.environ.get("TMPDIR") or "/tmp"
    for base in (Path(wanted), Path("/tmp"), Path("/var/tmp")):
        if not identity.drop or _can_be_entered(base.resolve(), identity):
            return base.resolve() / f"w{os.getuid()}"
    raise OvereagerError(
        "STO001",
        f"no folder for temporary files can be entered by user {identity.uid}",
        where=wanted,
        cure="set TMPDIR to a folder that every user may enter (mode 0711 or wider, all the way up)",
    )


def _can_be_entered(folder: Path, identity: Identity) -> bool:
    return folder.is_dir() and all(_may_enter(place.stat(), identity) for place in (folder, *folder.parents))


def _may_enter(status: os.stat_result, identity: Identity) -> bool:
    if status.st_uid == identity.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == identity.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)


def _check_own(base: Path) -> None:
    """Refuse a parent that another user laid out for us in a shared folder."""
    status = base.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise OvereagerError(
            "STO001", "the folder for trials belongs to someone else", where=base, cure="remove it, or set TMPDIR"
        )
    if stat.S_IMODE(status.st_mode) != 0o711:
        base.chmod(0o711)


def _claim(base: Path) -> tuple[int, Path]:
    """A locked lock file with a new name, and the room's path; the lock is there before the room is."""
    while True:
        root = base / secrets.token_hex(4)
        try:
            lock = os.open(_lock_path(root), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:  # else a sweeper took the new file for a stale one in between
            return lock, root
        os.close(lock)


def _furnish(root: Path, lock: int, identity: Identity, shared: Room | None) -> Room:
    folders = _FOLDERS if shared else {**_FOLDERS, **_READ_ONLY_FOLDERS}
    for name, mode in folders.items():
        folder = root / name
        folder.mkdir()
        if identity.drop:
            os.chown(folder, identity.uid, identity.gid)
        folder.chmod(mode)  # whatever the caller's umask
    etc, local = (shared.etc, shared.local) if shared else (root / "etc", root / "local")
    return Room(root, root / "home", root / "tmp", etc, local, root / "run", lock)


def _lock_path(root: Path) -> Path:
    return root.with_name(f"{root.name}.lock")


def _discard(root: Path) -> None:
    """Remove a room, then its lock file: a room without a lock file is nobody's."""
    try:
        with contextlib.suppress(FileNotFoundError):  # another sweeper was quicker
            remove_tree(root)
        _lock_path(root).unlink(missing_ok=True)
    except OSError as error:
        raise OvereagerError(
            "STO002",
            f"a finished trial's folder cannot be removed: {error.strerror} ({error.filename!r})",
            where=root,
            cure="remove it by hand",
        ) from error


def _sweep_one(root: Path) -> int:
    try:
        lock = os.open(_lock_path(root), os.O_RDWR)
    except FileNotFoundError:
        lock = -1
    try:
        if lock >= 0:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = root.exists()
        _discard(root)
        return int(found)
    except BlockingIOError:
        return 0  # its owner lives
    finally:
        if lock >= 0:
            os.close(lock)
