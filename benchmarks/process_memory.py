"""Resident memory of a running program and all below it, by depth in its process tree."""

from __future__ import annotations

import resource
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROLES = ("runner", "worker", "trial", "auditor")
"""By depth in the process tree."""
SAMPLE_SECONDS = 0.1


@contextmanager
def sampled(pid: int) -> Iterator[list[dict[str, float]]]:
    """Resident memory of the processes below `pid` by role, MiB, taken again and again meanwhile."""
    samples: list[dict[str, float]] = []
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            samples.append(memory_by_role([pid]))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        ended.set()
        thread.join()


def memory_by_role(level: Sequence[int]) -> dict[str, float]:
    """The largest process of each depth; what vanishes meanwhile is left out."""
    found: dict[str, float] = {}
    for role in ROLES:
        sizes = [size for size in map(resident_mib, level) if size is not None]
        if sizes:
            found[role] = max(sizes)
        level = [child for parent in level for child in children_of(parent)]
    return found


def resident_mib(pid: int) -> float | None:
    """Resident memory, shared pages included."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / (1 << 20)
    except OSError:
        return None


def children_of(pid: int) -> list[int]:
    """Of a process with one thread."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def largest(samples: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The maximum of each role."""
    return {role: max(sample.get(role, 0.0) for sample in samples) for role in ROLES} if samples else {}
