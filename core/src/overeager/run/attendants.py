"""What serves a trial from outside only when something inside calls: until then it has no thread and costs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Attendant(Protocol):
    """Sockets that wait for a first caller, and whoever then serves them."""

    def descriptors(self) -> Sequence[int]:
        """What becomes readable when somebody calls; empty = it serves already, or has nothing to serve."""

    def serve(self) -> None:
        """Start to serve, in a thread of the trial's process; called once, when one of `descriptors` is readable."""

    def stop(self) -> Mapping[str, Path]:
        """End, and give the members of the bundle that were written; callable more than once."""
