"""The limits of a running trial: wall time, and how much its room may hold."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from overeager.contract.effects import Limits

_PERIOD = 0.25
"""Seconds between looks at the file system; looking is one statvfs."""


class Watch:
    """Calls `stop(why)` once, with 'time' or 'room', unless it is ended before."""

    def __init__(self, room: Path, limits: Limits, stop: Callable[[str], None]) -> None:
        self._room, self._limits, self._stop = room, limits, stop
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        deadline = time.monotonic() + self._limits.seconds
        free = _free_bytes(self._room)
        while not self._ended.wait(min(_PERIOD, max(0.0, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                self._stop("time")
                return
            if free - _free_bytes(self._room) > self._limits.room_bytes // 2 and self._is_full():
                self._stop("room")
                return

    def _is_full(self) -> bool:
        """Whether the room itself, not something else on the same disk, holds too much."""
        return used_bytes(self._room) > self._limits.room_bytes

    def end(self) -> None:
        """Stop looking."""
        self._ended.set()
        self._thread.join()


def _free_bytes(path: Path) -> int:
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize


def used_bytes(folder: Path) -> int:
    """Bytes on disk below `folder`, links not followed; what vanishes meanwhile counts nothing."""
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
            except OSError:
                continue
    return total
