"""What judging costs: thousands of sealed bundles, half of the scripted agent, half of a real CLI.

    python benchmarks/judging.py [--bundles 7500] [--jobs 2] [--json]

Plays the demo bench once with each, with the kernel channel on and off, and seals copies of those bundles under other
repeats until there are enough. Prints seconds, processor time and the memory of the largest process for judging all
anew, and again when nothing has changed, with and without kernel logs. Aims, for 7,500 on two cores: 30 s without
kernel logs (median at most 200 kB), 120 s with them, 2 s unchanged. Figures are aims that are reported, never a test;
where something else keeps the cores busy, processor time (user and system) a bundle is what can be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from overeager.store import bundle, run_folder
from overeager.store.bundle import Bundle

DEMO = Path(__file__).parent.parent / "benches" / "demo"
REAL = "claude-code@2.1.117"


class Cost(NamedTuple):
    """What one or more commands took."""

    seconds: float
    processor: float
    """Seconds of all their processes, user and system."""
    peak_mib: float
    """Of the largest process."""

    def plus(self, other: Cost) -> Cost:
        """Both, one after the other."""
        return Cost(self.seconds + other.seconds, self.processor + other.processor, max(self.peak_mib, other.peak_mib))


class Figures(NamedTuple):
    """Some bundles, judged."""

    what: str
    bundles: int
    median_kib: float
    anew: Cost
    unchanged: Cost


def main() -> None:
    """Both kinds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundles", type=int, default=7500)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        figures = [
            one
            for option in ("--no-kernel", "--kernel")
            for one in measure(Path(scratch), option, options.bundles, options.jobs)
        ]
    if options.json:
        told = [one._asdict() | {"anew": one.anew._asdict(), "unchanged": one.unchanged._asdict()} for one in figures]
        print(json.dumps(told, indent=2))
        return
    for one in figures:
        print(f"{one.what}: {one.bundles} bundles, median {one.median_kib:.0f} KiB")
        for name, cost in (("anew", one.anew), ("unchanged", one.unchanged)):
            each = cost.processor / one.bundles * 1000
            print(
                f"  {name}: {cost.seconds:.1f} s, {cost.processor:.1f} s of processor, {each:.2f} ms a bundle; "
                f"largest process {cost.peak_mib:.0f} MiB"
            )


def measure(scratch: Path, option: str, bundles: int, jobs: int) -> list[Figures]:
    """Record, multiply, judge twice: for each agent, and for both together."""
    found: list[Figures] = []
    sizes: list[int] = []
    what = "kernel logs" if option == "--kernel" else "no kernel logs"
    for agent in ("scripted", REAL):
        run = scratch / f"{option}-{agent.partition('@')[0]}"
        record(run, agent, option, jobs)
        own = multiply(run, bundles // 2)
        sizes += own
        name = f"{what}, {agent}"
        found.append(Figures(name, len(own), statistics.median(own) / 1024, judge(run, jobs), judge(run, jobs)))
        shutil.rmtree(run)
    one, other = found
    both = (one.anew.plus(other.anew), one.unchanged.plus(other.unchanged))
    return [*found, Figures(f"{what}, half and half", len(sizes), statistics.median(sizes) / 1024, *both)]


def record(run: Path, agent: str, option: str, jobs: int) -> None:
    """A run of the demo bench."""
    command = ["run", str(DEMO), "--agent", agent, option, "-j", str(jobs), "--out", str(run)]
    overeager(command)


def multiply(run: Path, wanted: int) -> list[int]:
    """Seal copies under other repeats, and plan these, until `wanted` bundles lie there; the sizes of all."""
    folder = run_folder.open_run(run)
    originals = [run_folder.open_attempt(one) for one in run_folder.sealed_attempts(folder)]
    loaded = [(one, one.members()) for one in originals]
    plan = run_folder.read_plan(folder)
    trials = [*plan.trials]
    for repeat, original, members in islice(_copies(loaded), max(0, wanted - len(loaded))):
        manifest = original.manifest
        trial = manifest.trial.model_copy(update={"repeat": repeat})
        copy = manifest.model_copy(update={"trial": trial, "members": {}})
        bundle.seal(folder.bundle_path(trial.name, manifest.attempt), copy, members)
        trials.append(trial)
    planned = plan.model_copy(update={"trials": tuple(trials)})
    (folder.root / run_folder.PLAN).write_bytes(planned.canonical() + b"\n")
    return [path.stat().st_size for path in folder.bundles.iterdir()]


def _copies(loaded: Sequence[tuple[Bundle, dict[str, bytes]]]) -> Iterator[tuple[int, Bundle, dict[str, bytes]]]:
    for repeat in count(2):
        for original, members in loaded:
            yield repeat, original, members


def judge(run: Path, jobs: int) -> Cost:
    """Judge what was not judged."""
    return overeager(["judge", str(run), "-j", str(jobs)])


def overeager(arguments: Sequence[str]) -> Cost:
    """Run the program to its end."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", "overeager.cli", *arguments], stdout=subprocess.DEVNULL, stderr=complaints
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        complaints.seek(0)
        assert process.returncode == 0, complaints.read().decode()[-2000:]
    return Cost(time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
