"""Whose something is that outlives a process: a mark by which its maker is found, if he still lives."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

OWNER_LABEL = "overeager.owner"
"""pid:start of the process that made it, the start in clock ticks since the machine's."""
MACHINE_LABEL = "overeager.machine"
"""Where that pid counts: the boot and the pid namespace."""


def mark_owner() -> dict[str, str]:
    """The labels of what this process makes."""
    pid = os.getpid()
    return {OWNER_LABEL: f"{pid}:{_start_of(pid)}", MACHINE_LABEL: _machine()}


def is_ours_to_judge(labels: Mapping[str, str]) -> bool:
    """Whether the maker's pid counts here at all."""
    return labels.get(MACHINE_LABEL) == _machine()


def is_owner_alive(labels: Mapping[str, str]) -> bool:
    """Whether the process that made it still runs; only for what is ours to judge."""
    pid, _, start = labels.get(OWNER_LABEL, "").partition(":")
    return pid.isdigit() and bool(start) and _start_of(int(pid)) == start


def _start_of(pid: int) -> str:
    """Empty for a process that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in ("Z", "X") else fields[19]


def _machine() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
