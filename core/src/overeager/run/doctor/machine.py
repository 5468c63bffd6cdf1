"""The machine itself: Python, folders, disk, and the tools that are used beside trials."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from pathlib import Path

from overeager.contract.effects import Identity
from overeager.errors import OvereagerError
from overeager.run.doctor.check import Check, failed, last_word, megabytes, status_of
from overeager.store.npm import npm_command
from overeager.store.room import close_room, open_room

_OLDEST_PYTHON = (3, 11)
_LEAST_SPACE = 256 << 20
"""Bytes; a fixture, its git history and an agent's home fit many times."""
_FILES = 400
"""How many small files are made to see how quick the disk is; a fixture has some hundreds."""
_SLOW = 0.5
"""Seconds for that which are too many: a quick disk needs a twentieth."""


def check_python() -> Check:
    """Whether this Python is new enough."""
    ok = sys.version_info >= _OLDEST_PYTHON
    return Check(
        "python", ok, f"{platform.python_version()} at {sys.executable}", "" if ok else "use Python 3.11 to 3.13"
    )


def check_cache(cache: Path, identity: Identity) -> Check:
    """A file is made in the cache, and executed there by the user that agents run as."""
    name = "cache"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        draft = cache / f"{os.getpid()}.try"
        draft.write_text("#!/bin/sh\nexit 0\n")
        try:
            draft.chmod(0o755)
            status = status_of([str(draft)], identity)
        finally:
            draft.unlink()
    except OSError as error:
        return Check(name, False, f"{cache}: {error.strerror}", "set OVEREAGER_CACHE to a folder that you may write")
    if status != 0:
        found = f"{cache}: user {identity.uid} cannot execute what lies there"
        return Check(
            name, False, found, "set OVEREAGER_CACHE to a folder that every user may enter, not mounted noexec"
        )
    return Check(name, True, f"{cache}, {megabytes(shutil.disk_usage(cache).free)} free", "")


def check_rooms(identity: Identity) -> Check:
    """A trial's folders are made and removed, and there is space for them."""
    try:
        room = open_room(None, identity)
        free = shutil.disk_usage(room.root).free
        close_room(room)
    except OvereagerError as error:
        return failed("temporary folder", error)
    cure = "" if free >= _LEAST_SPACE else "set TMPDIR to a folder with more space"
    return Check("temporary folder", not cure, f"{room.root.parent}, {megabytes(free)} free", cure)


def check_disk(identity: Identity) -> Check:
    """Small files are made and removed where trials lie; a slow disk makes every trial slow."""
    name = "temporary folder's pace"
    try:
        room = open_room(None, identity)
        try:
            began = time.monotonic()
            for number in range(_FILES):
                (room.tmp / str(number)).write_bytes(b"x" * 1000)
            taken = time.monotonic() - began
        finally:
            close_room(room)
    except OvereagerError as error:
        return failed(name, error)
    except OSError as error:
        return Check(name, False, f"files cannot be made: {error.strerror}", "set TMPDIR to a folder with more space")
    found = f"{_FILES} files in {taken * 1000:.0f} ms"
    if taken > _SLOW:
        return Check(name, None, found, "set TMPDIR to a folder on a local disk or a tmpfs, for example /dev/shm")
    return Check(name, True, found, "")


def check_git() -> Check:
    """The machine's git, which fixtures are built beside and agents use in bubblewrap."""
    found = shutil.which("git")
    version = last_word([found, "--version"]) if found else ""
    if not found or not version:
        return Check("git", None, "not found; scenarios with a repository need it", "install the package git")
    return Check("git", True, f"{version} ({found})", "")


def check_npm() -> Check:
    """The npm that fetches vendors' CLIs says its version."""
    try:
        command = npm_command()
    except OvereagerError as error:
        return Check("npm", None, error.what, error.cure or "")
    return Check("npm", True, f"{last_word([*command, '--version'])} ({command[0]})", "")
