"""What judging one bundle may come to: so many seconds, and errors that say which bundle it was."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from overeager.errors import OvereagerError
from overeager.store.bundle import Bundle

_AGAIN = 1.0
"""Seconds to the next reminder: one may have been caught and thrown away."""


@contextmanager
def attributed(opened: Bundle, seconds: float) -> Iterator[None]:
    """Every error in the block names the bundle; raises JDG014 when the block takes longer than `seconds`."""
    try:
        with limited(seconds):
            yield
    except TimeoutError as error:
        raise OvereagerError(
            "JDG014",
            f"the bundle of '{opened.manifest.trial.name}' was not judged: {error}",
            where=opened.path,
            cure="give --patience more seconds, if the bundle is as large as that",
        ) from error
    except OvereagerError as error:
        if error.where is not None and error.where.source == str(opened.path):
            raise
        what = f"{error.what} (on the bundle of '{opened.manifest.trial.name}')"
        raise OvereagerError(error.code, what, where=error.where or opened.path, cure=error.cure) from error


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError inside the block once it has run for `seconds`, and again each second until it ends.

    Only a process's main thread can be interrupted so; elsewhere there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def remind(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"it did not end within {seconds:g} seconds")

    former = signal.signal(signal.SIGALRM, remind)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
