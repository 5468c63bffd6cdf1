"""Whom the agent runs as on the host: always an ordinary user."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from overeager.contract.effects import Identity
from overeager.errors import OvereagerError

FIRST = 1612
"""Where the search for an unused uid begins; it lies among ordinary users on every distribution."""
_LAST = 1999


def choose_identity() -> Identity:
    """The caller, or, for root, the first uid from 1612 that no account has (with the gid of the same number).

    Root must drop: seen from a sandbox whose user is the host's root, /proc/sys can be written. An unused uid owns
    nothing on this machine but what is given to it. Raises SBX004 when root cannot become anybody else.
    """
    if os.geteuid() != 0:
        return Identity(os.geteuid(), os.getegid(), drop=False)
    mapped = _mapped(Path("/proc/self/uid_map"), FIRST) and _mapped(Path("/proc/self/gid_map"), FIRST)
    if not mapped:
        return _only_root()
    return Identity(_unused(), _unused(), drop=True)


def _only_root() -> Identity:
    """Root of a user namespace that has no other users: an ordinary user on the host under another number."""
    if _host_id(Path("/proc/self/uid_map"), 0) == 0:
        raise OvereagerError(
            "SBX004",
            f"root cannot drop to an ordinary user here: uid {FIRST} is not mapped",
            where="/proc/self/uid_map",
            cure="start it as an ordinary user, or in a container that maps more than root",
        )
    return Identity(0, 0, drop=False)


def _unused() -> int:
    for uid in range(FIRST, _LAST):
        try:
            pwd.getpwuid(uid)
        except KeyError:
            return uid
    return FIRST


def _ranges(path: Path) -> list[tuple[int, int, int]]:
    lines = [line.split() for line in path.read_text().splitlines()]
    return [(int(inside), int(outside), int(count)) for inside, outside, count in lines]


def _host_id(path: Path, number: int) -> int | None:
    for inside, outside, count in _ranges(path):
        if inside <= number < inside + count:
            return outside + number - inside
    return None


def _mapped(path: Path, number: int) -> bool:
    return _host_id(path, number) is not None
