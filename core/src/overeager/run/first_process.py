"""The first process inside a sandbox: when it ends, so does every other in there; the kernel sees to that."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading


class FirstProcess:
    """Held by a descriptor, so that its number is nobody else's; `stop` may come from any thread, at any time."""

    def __init__(self) -> None:
        self._descriptor = -1
        self._lock = threading.Lock()
        self.why = ""
        """What it was stopped for, the first time while it lived; empty = it was not."""

    def hold(self, pid: int) -> None:
        """Take hold of process `pid`; raises ProcessLookupError when it is gone."""
        self._descriptor = os.pidfd_open(pid)

    @property
    def is_held(self) -> bool:
        """Whether `hold` has succeeded, and `release` not come yet."""
        return self._descriptor >= 0

    @property
    def is_dead(self) -> bool:
        """Whether it has ended, or is not held."""
        return not self.is_held or bool(poll(self._descriptor, select.POLLIN, 0))

    def stop(self, why: str) -> None:
        """Kill it; the first `why` is the one that counts."""
        with self._lock:
            if not self.is_dead:
                self.why = self.why or why
                self.kill()

    def kill(self) -> None:
        """End it, for no reason that would count."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def wait(self) -> None:
        """Block until it has ended."""
        poll(self._descriptor, select.POLLIN)

    def release(self) -> None:
        """Hold it no more."""
        with self._lock:
            if self.is_held:
                os.close(self._descriptor)
                self._descriptor = -1


def poll(descriptor: int, event: int, milliseconds: int | None = None) -> list[tuple[int, int]]:
    """What has come about; waits for it, at most so long."""
    one = select.poll()
    one.register(descriptor, event)
    return one.poll(milliseconds)
