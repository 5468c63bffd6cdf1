"""Folders and files that runs which were ended by force have left, and that nobody who lives holds."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from overeager.contract.effects import Identity
from overeager.contract.leftovers import Leftover
from overeager.store.cache import Cache
from overeager.store.locks import is_locked
from overeager.store.removal import remove_tree
from overeager.store.room import default_parent, is_abandoned, room_names, sweep

_HELD = "held"


def find_rooms(identity: Identity) -> tuple[Leftover, ...]:
    """The rooms whose owners are dead."""
    return tuple(
        Leftover("room", str(parent / name), size_of(parent / name))
        for parent in _parents(identity)
        for name in room_names(parent)
        if is_abandoned(parent / name)
    )


def remove_rooms(identity: Identity) -> None:
    """Remove them; what a new owner has locked meanwhile stays. Raises STO002 when something cannot be removed."""
    for parent in _parents(identity):
        sweep(parent)


def _parents(identity: Identity) -> Sequence[Path]:
    """Where rooms of this caller may lie: the folder depends on who the agent is to be."""
    caller = Identity(os.getuid(), os.getgid(), drop=False)
    return [parent for parent in sorted({default_parent(identity), default_parent(caller)}) if parent.is_dir()]


def find_drafts(runs: Sequence[Path]) -> tuple[Leftover, ...]:
    """Half-written bundles and benches in run folders that no runner holds."""
    return tuple(
        Leftover("draft", str(draft), size_of(draft))
        for run in runs
        if not is_locked(run / ".lock")
        for draft in sorted({*run.glob(".*.part"), *run.glob("bundles/.*.part")})
    )


def remove_draft(draft: Leftover) -> None:
    """Remove one."""
    remove_tree(Path(draft.name))


def find_cache_drafts(cache: Cache) -> tuple[Leftover, ...]:
    """What makers of the cache's entries have left half made."""
    return tuple(
        Leftover("draft", str(draft), size_of(draft))
        for draft in sorted(cache.root.glob("*/.*.part"))
        if not is_locked(draft.with_name(f"{draft.name.removesuffix('.part')}.lock"))
    )


def hold(cache: Cache, key: str) -> int:
    """Say that `key` is in use until the descriptor that is given is closed, at the latest by the process's end."""
    folder = cache.root / _HELD
    folder.mkdir(mode=0o755, exist_ok=True)
    lock = os.open(folder / key[:32], os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


@contextmanager
def not_held(cache: Cache, key: str) -> Iterator[bool]:
    """Whether nobody uses `key`; as long as the context lasts nobody begins to."""
    path = cache.root / _HELD / key[:32]
    if not path.exists():
        yield True
        return
    lock = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(lock)


def size_of(place: Path) -> int:
    """Bytes on disk of a file, or of all below a folder; what vanishes meanwhile counts nothing."""
    total = 0
    for parent, _, names in os.walk(place):
        total += sum(_blocks(os.path.join(parent, name)) for name in names)
    return total or _blocks(str(place))


def _blocks(path: str) -> int:
    try:
        return os.lstat(path).st_blocks * 512
    except OSError:
        return 0
