"""What an auditor is asked to do, and what it says when all is dead."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from overeager.contract.effects import Command, RecorderHealth

SWITCHED_OFF = RecorderHealth("absent", "switched off")


class Assignment(NamedTuple):
    """What an auditor is to do."""

    command: Command | None
    """What to start; None = somebody else starts it, and tells where over the only descriptor that comes along."""
    began: float
    """Start of the trial on CLOCK_MONOTONIC."""
    kernel: Path | None
    """Where `kernel.jsonl` goes; None = no kernel channel."""
    shim: Path | None
    """Where `shim.jsonl` goes; None = no shim channel."""
    meeting: Path
    """Where the shims find the auditor, on the host."""
    shim_form: str = "cc"
    """The form of the shim binary: `sh` writes to a FIFO, the others send datagrams."""
    pump: Path | None = None
    """The compiled loop of the kernel channel; None = its Python form."""


class AuditReport(NamedTuple):
    """What an auditor says when all is dead."""

    exit_status: int | None
    """Of the sandbox's outer process: 0-255; None = a signal ended it."""
    kernel: RecorderHealth
    shim: RecorderHealth
    failure: str
    """Not empty = the auditor itself broke; then nothing else is to be believed."""
    compiled: bool = False
    """Whether the kernel channel was recorded by the compiled loop."""
