"""A running trial from outside: its streams, its wall time, and how much its room holds."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence
from pathlib import Path

from overeager.contract.effects import Finished, Limits
from overeager.run.attendants import Attendant
from overeager.run.capture import Capture
from overeager.run.staging import AnyStage

_PERIOD = 0.25
"""Seconds between looks at the file system; looking is one statvfs."""


def watch(
    stage: AnyStage, captures: Sequence[Capture], room: Path, limits: Limits, attendants: Sequence[Attendant] = ()
) -> Finished:
    """Stay with a started trial until all in it is dead and its streams are read to their end.

    It is stopped, once, when it takes more time or room than `limits` give it; an attendant whom something inside
    calls begins to serve. Needs no thread of its own.
    """
    bounds = _Bounds(room, limits)
    streams = {capture.fileno(): capture for capture in captures}
    poll = select.poll()
    calls = {descriptor: attendant for attendant in attendants for descriptor in attendant.descriptors()}
    for descriptor in (*streams, stage.report, *calls):
        poll.register(descriptor, select.POLLIN)
    reached = ""
    while True:
        ready = {descriptor for descriptor, _ in poll.poll(None if reached else bounds.milliseconds_left())}
        for descriptor in ready & streams.keys():
            if not streams[descriptor].read():
                poll.unregister(descriptor)
                del streams[descriptor]
        for called in {calls[descriptor] for descriptor in ready & calls.keys()}:
            for descriptor in [one for one, attendant in calls.items() if attendant is called]:
                poll.unregister(descriptor)
                del calls[descriptor]
            called.serve()
        if stage.report in ready:
            break
        reached = reached or bounds.look()
        if reached:
            stage.stop(reached)
    finished = stage.wait()
    for capture in streams.values():
        while capture.read():
            pass
    return finished


class _Bounds:
    """The limits of a trial that begins now."""

    def __init__(self, room: Path, limits: Limits) -> None:
        self._room, self._limits = room, limits
        self._deadline = time.monotonic() + limits.seconds
        self._free = _free_bytes(room)
        self._next = self._after(time.monotonic())

    def _after(self, now: float) -> float:
        return min(now + _PERIOD, self._deadline)

    def milliseconds_left(self) -> float:
        """Until the next look."""
        return max(0.0, self._next - time.monotonic()) * 1000

    def look(self) -> str:
        """The limit that is reached, 'time' or 'room'; empty = none, or it is too early to look again."""
        now = time.monotonic()
        if now < self._next:
            return ""
        self._next = self._after(now)
        if now >= self._deadline:
            return "time"
        taken = self._free - _free_bytes(self._room)
        return "room" if taken > self._limits.room_bytes // 2 and self._is_full() else ""

    def _is_full(self) -> bool:
        """Whether the room itself, not something else on the same disk, holds too much."""
        return used_bytes(self._room) > self._limits.room_bytes


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
