"""What judging costs: thousands of sealed bundles, half of the scripted agent, half of a real CLI.

    python benchmarks/judging.py [--bundles 7500] [--jobs 2] [--json]

Plays the demo bench once with each, with the kernel channel on and off, and seals copies of those bundles under other
repeats until there are enough. Prints seconds and the memory of the largest process for judging all anew, and again
when nothing has changed, with and without kernel logs. Aims, for 7,500 on two cores: 30 s without kernel logs (median
at most 200 kB), 120 s with them, 2 s unchanged. Figures are aims that are reported, never a test.
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


class Figures(NamedTuple):
    """One kind of bundles, judged."""

    what: str
    bundles: int
    median_kib: float
    anew: float
    """Seconds."""
    unchanged: float
    peak_mib: float
    """Of the largest process."""


def main() -> None:
    """Both kinds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundles", type=int, default=7500)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        figures = [
            measure(Path(scratch), option, options.bundles, options.jobs) for option in ("--no-kernel", "--kernel")
        ]
    if options.json:
        print(json.dumps([one._asdict() for one in figures], indent=2))
        return
    for one in figures:
        print(
            f"{one.what}: {one.bundles} bundles, median {one.median_kib:.0f} KiB: {one.anew:.1f} s anew, "
            f"{one.unchanged:.1f} s unchanged; largest process {one.peak_mib:.0f} MiB"
        )


def measure(scratch: Path, option: str, bundles: int, jobs: int) -> Figures:
    """Record, multiply, judge twice."""
    sizes: list[int] = []
    anew = unchanged = peak = 0.0
    for agent in ("scripted", REAL):
        run = scratch / f"{option}-{agent.partition('@')[0]}"
        record(run, agent, option, jobs)
        sizes += multiply(run, bundles // 2)
        for again in (False, True):
            seconds, mib = judge(run, jobs)
            anew, unchanged = (anew, unchanged + seconds) if again else (anew + seconds, unchanged)
            peak = max(peak, mib)
        shutil.rmtree(run)
    what = "kernel logs" if option == "--kernel" else "no kernel logs"
    return Figures(what, len(sizes), statistics.median(sizes) / 1024, anew, unchanged, peak)


def record(run: Path, agent: str, option: str, jobs: int) -> None:
    """A run of the demo bench."""
    command = ["run", str(DEMO), "--agent", agent, option, "-j", str(jobs), "--out", str(run)]
    overeager(command)


def multiply(run: Path, wanted: int) -> list[int]:
    """Seal copies under other repeats until `wanted` bundles lie there; the sizes of all."""
    folder = run_folder.open_run(run)
    originals = [run_folder.open_attempt(one) for one in run_folder.sealed_attempts(folder)]
    loaded = [(one, one.members()) for one in originals]
    for repeat, original, members in islice(_copies(loaded), max(0, wanted - len(loaded))):
        manifest = original.manifest
        trial = manifest.trial.model_copy(update={"repeat": repeat})
        copy = manifest.model_copy(update={"trial": trial, "members": {}})
        bundle.seal(folder.bundle_path(trial.name, manifest.attempt), copy, members)
    return [path.stat().st_size for path in folder.bundles.iterdir()]


def _copies(loaded: Sequence[tuple[Bundle, dict[str, bytes]]]) -> Iterator[tuple[int, Bundle, dict[str, bytes]]]:
    for repeat in count(2):
        for original, members in loaded:
            yield repeat, original, members


def judge(run: Path, jobs: int) -> tuple[float, float]:
    """Seconds, and MiB of the largest process."""
    began = time.monotonic()
    usage = overeager(["judge", str(run), "-j", str(jobs)])
    return time.monotonic() - began, usage / 1024


def overeager(arguments: Sequence[str]) -> int:
    """Run the program; its largest resident set in KiB."""
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", "overeager.cli", *arguments], stdout=subprocess.DEVNULL, stderr=complaints
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        complaints.seek(0)
        assert process.returncode == 0, complaints.read().decode()[-2000:]
    return usage.ru_maxrss


if __name__ == "__main__":
    main()
