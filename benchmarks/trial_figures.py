"""What the passes of `trial_overhead.py` come to, and how it is told."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from process_memory import ROLES

from overeager.store import run_folder

AIMS = {"no kernel channel": 60, "kernel channel": 40}
CPU_AIM_MS, MEMORY_AIM_MIB = 20, 100


class Pass(NamedTuple):
    """One invocation of `overeager run`, as seen from outside."""

    trials: int
    seconds: float
    cpu_ms: float
    """Of the program and all below it."""
    peak_mib: float
    """Of the largest process."""
    early: Mapping[str, float]
    """Largest resident memory by role, MiB, in the first third of the pass."""
    late: Mapping[str, float]
    """In the last third."""


class Figures(NamedTuple):
    """What the passes of one kind come to; milliseconds a trial."""

    what: str
    trials: int
    per_second: float
    """Over the whole invocation."""
    per_second_going: float
    """Without the program's start."""
    cpu: float
    """Beyond the child's own, the start shared out."""
    child_cpu: float
    start_cpu: float
    """The share of the program's start in `cpu`."""
    setup: float
    """Median wall time from the empty room to the waiting agent."""
    agent: float
    teardown: float
    rest: float
    """Wall time outside these: after-snapshot, sealing, removal, waiting for a processor."""
    bundle_kib: float
    peak_mib: float
    early: Mapping[str, float]
    late: Mapping[str, float]


def conclude(what: str, out: Path, start: Pass, whole: Pass, jobs: int, child: float) -> Figures:
    """Figures of a pass, given that of a short one; every bundle is opened."""
    folder = run_folder.open_run(out)
    sealed = run_folder.sealed_attempts(folder)
    assert len(sealed) == whole.trials, f"{len(sealed)} of {whole.trials} trials were sealed"
    timings = [run_folder.open_attempt(one).manifest.timings for one in sealed]
    more = whole.trials - start.trials
    cpu_going = (whole.cpu_ms - start.cpu_ms) / more
    wall = (whole.seconds - start.seconds) * 1000 * jobs / more
    setup, agent, teardown = (
        statistics.median(getattr(timing, name) for timing in timings) for name in ("setup", "agent", "teardown")
    )
    return Figures(
        what,
        trials=whole.trials,
        per_second=whole.trials / whole.seconds,
        per_second_going=more / (whole.seconds - start.seconds),
        cpu=whole.cpu_ms / whole.trials - child,
        child_cpu=child,
        start_cpu=whole.cpu_ms / whole.trials - cpu_going,
        setup=setup,
        agent=agent,
        teardown=teardown,
        rest=wall - setup - agent - teardown,
        bundle_kib=statistics.median(one.path.stat().st_size for one in sealed) / 1024,
        peak_mib=whole.peak_mib,
        early=whole.early,
        late=whole.late,
    )


def tell(figures: Sequence[Figures], parts: Mapping[str, float]) -> Iterator[str]:
    """The report, a line at a time."""
    for one in figures:
        yield (
            f"{one.what}: {one.per_second:.1f} trials/s (aim {AIMS[one.what]}), {one.per_second_going:.1f} once going; "
            f"{one.cpu:.1f} ms CPU a trial (aim {CPU_AIM_MS}) beyond the child's {one.child_cpu:.1f}; "
            f"largest process {one.peak_mib:.0f} MiB (aim {MEMORY_AIM_MIB}); {one.trials} trials"
        )
        yield (
            f"  wall: set-up {one.setup:.1f} ms, agent {one.agent:.1f}, tear-down {one.teardown:.1f}, "
            f"snapshot to removal and waiting {one.rest:.1f}; bundle {one.bundle_kib:.1f} KiB"
        )
        memory = (f"{role} {one.early[role]:.0f} -> {one.late[role]:.0f}" for role in ROLES if role in one.early)
        yield f"  memory, first third -> last third, MiB: {', '.join(memory)}"
    yield "CPU a trial, ms: " + ", ".join(f"{name} {value:.1f}" for name, value in parts.items())
