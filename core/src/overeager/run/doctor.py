"""What works on this machine, each thing really tried, and how to mend what does not."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from overeager.audit import seccomp, shim_build, shim_mounts
from overeager.audit.shim_build import ShimBinary
from overeager.contract.effects import Identity
from overeager.errors import OvereagerError
from overeager.run.rehearsal import rehearse
from overeager.run.stage import Rig
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import Bubblewrap, locate_bubblewrap
from overeager.sandbox.probe import probe_sandbox
from overeager.store.npm import npm_command
from overeager.store.room import close_room, open_room

_OLDEST_PYTHON = (3, 11)
_LEAST_SPACE = 256 << 20
"""Bytes; a fixture, its git history and an agent's home fit many times."""
_SECONDS = 20
_COMMANDS = ("cat", "env", "git", "mkdir", "python3", "rm")
"""For the rehearsal; `run` rehearses the whole table."""
_PACED = """
from overeager.audit import seccomp
seccomp.forbid_new_privileges()
raise SystemExit(0 if seccomp.wake_in_step(seccomp.install(seccomp.build_own_filter({}))) else 1)
"""


class Check(NamedTuple):
    """One thing that was tried."""

    name: str
    ok: bool | None
    """None = missing, and trials can run without it."""
    found: str
    cure: str
    """What to do, empty when nothing is to be done."""


def examine(cache: Path) -> tuple[Check, ...]:
    """Every check, in the order in which one rests on the other; nothing is left behind but the cache's own entries.

    Call it in the main thread of a process without other threads.
    """
    return tuple(_examine(cache))


def _examine(cache: Path) -> Iterator[Check]:
    yield check_python()
    try:
        identity = choose_identity()
    except OvereagerError as error:
        yield _failed("user", error)
        return
    yield check_cache(cache, identity)
    yield check_rooms(identity)
    shim, check = check_shim(cache, identity)
    yield check
    bubblewrap, check = check_bubblewrap(cache, identity)
    yield check
    sandbox = None if bubblewrap is None else check_namespaces(bubblewrap, identity)
    if sandbox is not None:
        yield sandbox
    yield check_kernel_channel()
    yield check_pace()
    if bubblewrap is not None and shim is not None and sandbox is not None and sandbox.ok:
        yield check_rehearsal(bubblewrap, shim, identity)
    yield check_npm()
    yield check_docker()


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
            status = _status([str(draft)], identity)
        finally:
            draft.unlink()
    except OSError as error:
        return Check(name, False, f"{cache}: {error.strerror}", "set OVEREAGER_CACHE to a folder that you may write")
    if status != 0:
        found = f"{cache}: user {identity.uid} cannot execute what lies there"
        return Check(
            name, False, found, "set OVEREAGER_CACHE to a folder that every user may enter, not mounted noexec"
        )
    return Check(name, True, f"{cache}, {_megabytes(shutil.disk_usage(cache).free)} free", "")


def check_rooms(identity: Identity) -> Check:
    """A trial's folders are made and removed, and there is space for them."""
    try:
        room = open_room(None, identity)
        free = shutil.disk_usage(room.root).free
        close_room(room)
    except OvereagerError as error:
        return _failed("temporary folder", error)
    cure = "" if free >= _LEAST_SPACE else "set TMPDIR to a folder with more space"
    return Check("temporary folder", not cure, f"{room.root.parent}, {_megabytes(free)} free", cure)


def check_shim(cache: Path, identity: Identity) -> tuple[ShimBinary | None, Check]:
    """The shim is built and executed by the user that agents run as."""
    try:
        shim = shim_build.build(cache)
    except OvereagerError as error:
        return None, _failed("shims", error)
    if _status([str(shim.path), "/bin/true"], identity) != 0:
        found = f"{shim.path} does not run as user {identity.uid}"
        return None, Check("shims", False, found, "set OVEREAGER_CACHE to a folder that every user may enter")
    if shim.gaps:
        return shim, Check("shims", None, shim.gaps, "install a C compiler, or `pip install ziglang`")
    return shim, Check(
        "shims", True, f"compiled by {'the wheel ziglang' if shim.form == 'zig' else shutil.which('cc')}", ""
    )


def check_bubblewrap(cache: Path, identity: Identity) -> tuple[Bubblewrap | None, Check]:
    """Whether there is a bubblewrap that can be used."""
    try:
        found = locate_bubblewrap(cache, identity)
    except OvereagerError as error:
        return None, _failed("bubblewrap", error)
    return found, Check("bubblewrap", True, f"{found.version} from {found.origin}: {found.executable}", "")


def check_namespaces(bubblewrap: Bubblewrap, identity: Identity) -> Check:
    """An empty sandbox is started, with every namespace that trials need."""
    probe = probe_sandbox(bubblewrap, identity)
    user = f"as user {identity.uid}"
    return Check("sandbox", probe.works, f"starts {user}" if probe.works else f"{user}: {probe.why}", probe.cure)


def check_kernel_channel() -> Check:
    """A seccomp listener is installed in a child process."""
    refusal = seccomp.refusal()
    if refusal is None:
        return Check("kernel channel", True, f"Linux {platform.release()} gives a seccomp listener", "")
    return Check(
        "kernel channel", None, refusal.reason, "use Linux 5.5 or later outside gVisor, or run with --no-kernel"
    )


def check_pace() -> Check:
    """The flag of Linux 6.6 that makes the kernel channel cheap is set in a child process."""
    if _status([sys.executable, "-c", _PACED], None) == 0:
        return Check("kernel channel's pace", True, "SYNC_WAKE_UP", "")
    return Check(
        "kernel channel's pace",
        None,
        "no SYNC_WAKE_UP: audited calls cost several times more",
        "use Linux 6.6 or later",
    )


def check_rehearsal(bubblewrap: Bubblewrap, shim: ShimBinary, identity: Identity) -> Check:
    """A whole sandbox with auditor, listener and shims is played, and every call in it must leave its record."""
    rig = Rig(bubblewrap, shim.path, shim_mounts.mounts(shim, _COMMANDS), shim.form)
    try:
        played = rehearse(rig, identity, _COMMANDS)
    except OvereagerError as error:
        return _failed("rehearsal", error)
    if played.finished.exit_status != 0 or played.finished.auditor_lost:
        return Check("rehearsal", False, f"the sandbox ended badly: {played.finished.detail}", "")
    health = played.coverage.health
    found = "every call of every command left its record" if health.state == "present" else health.reason
    return Check("rehearsal", health.state == "present", found, "")


def check_npm() -> Check:
    """The npm that fetches vendors' CLIs says its version."""
    try:
        command = npm_command()
    except OvereagerError as error:
        return Check("npm", None, error.what, error.cure or "")
    return Check("npm", True, f"{_output([*command, '--version'])} ({command[0]})", "")


def check_docker() -> Check:
    """Whether a Docker client is there and a daemon answers it."""
    client = shutil.which("docker")
    if client is None:
        return Check("docker", None, "no client; bubblewrap is the default sandbox", "")
    version = _output([client, "version", "--format", "{{.Server.Version}}"])
    if not version:
        return Check("docker", None, f"{client}, but no daemon answers", "start the daemon, or join the group `docker`")
    return Check("docker", True, f"{client}, daemon {version}", "")


def _failed(name: str, error: OvereagerError) -> Check:
    return Check(name, False, f"{error.code} {error.what}", error.cure or "")


def _status(command: list[str], identity: Identity | None) -> int | None:
    """Exit status of a silent command, run as `identity`; None when it does not start or does not end."""
    drop = identity is not None and identity.drop
    user = {"user": identity.uid, "group": identity.gid, "extra_groups": []} if drop and identity else {}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False, cwd="/", **user
        )  # type: ignore[call-overload]  # keywords for root only
    except (OSError, subprocess.TimeoutExpired):
        return None
    return int(done.returncode)


def _output(command: list[str]) -> str:
    """The last line of what a command says; empty when it fails."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout.split() if done.returncode == 0 else []
    return lines[-1] if lines else ""


def _megabytes(size: int) -> str:
    return f"{size >> 20} MiB"
