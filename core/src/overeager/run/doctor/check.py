"""One thing that was tried, and the ways of trying: with an end to it, whatever hangs."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple, NoReturn

from overeager.contract.effects import Identity
from overeager.errors import OvereagerError

SECONDS = 20
"""For a command."""
WHOLE_SECONDS = 60
"""For a whole sandbox with all that is called in it."""


class Check(NamedTuple):
    """One thing that was tried."""

    name: str
    ok: bool | None
    """None = missing, and trials can run without it."""
    found: str
    cure: str
    """What to do, empty when nothing is to be done."""


def failed(name: str, error: OvereagerError) -> Check:
    """A check that ended in an error of ours, which brings its cure."""
    return Check(name, False, f"{error.code} {error.what}", error.cure or "")


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in the main thread when what is inside takes longer."""

    def ring(number: int, frame: FrameType | None) -> NoReturn:
        raise TimeoutError(f"no end after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def status_of(command: Sequence[str], identity: Identity | None) -> int | None:
    """Exit status of a silent command, run as `identity`; None when it does not start or does not end."""
    drop = identity is not None and identity.drop
    user = {"user": identity.uid, "group": identity.gid, "extra_groups": []} if drop and identity else {}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False, cwd="/", **user
        )  # type: ignore[call-overload]  # keywords for root only
    except (OSError, subprocess.TimeoutExpired):
        return None
    return int(done.returncode)


def last_word(command: Sequence[str]) -> str:
    """The last word of what a command says; empty when it fails."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = done.stdout.split() if done.returncode == 0 else []
    return words[-1] if words else ""


def megabytes(size: int) -> str:
    """For people."""
    return f"{size >> 20} MiB"
