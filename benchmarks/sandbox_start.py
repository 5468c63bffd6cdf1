"""What it costs to start a sandbox: bubblewrap, our container, and a bare `docker run`, as ratios within one run.

python benchmarks/sandbox_start.py [ROUNDS]     starts a container engine of its own; needs root and docker.io
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import docker_kit
import sandbox_kit

ROUNDS = 15


def measure(rounds: int) -> Mapping[str, list[float]]:
    """Seconds of each way to run `true`, round by round, so that all meet the same machine."""
    address = docker_kit.shared_daemon().address
    bare = ["docker", "-H", address, "run", "--rm", "--network", "none", docker_kit.IMAGE, "true"]
    ways: Mapping[str, Callable[[], object]] = {
        "bubblewrap, alone": lambda: sandbox_kit.play("true", shims=False, kernel=False),
        "bubblewrap, shims and kernel channel": lambda: sandbox_kit.play("true"),
        "container, alone": lambda: sandbox_kit.play("true", shims=False, kernel=False, sandbox="docker"),
        "container, shims and kernel channel": lambda: sandbox_kit.play("true", sandbox="docker"),
        "docker run --rm": lambda: subprocess.run(bare, check=True, capture_output=True),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, run in ways.items():
            began = time.perf_counter()
            run()
            if number:  # the first round fills caches
                taken[name].append(time.perf_counter() - began)
    return taken


def main() -> None:
    """Print medians, and their ratio to `docker run`."""
    taken = measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
    medians = {name: statistics.median(times) for name, times in taken.items()}
    for name, median in medians.items():
        print(f"{name:40} {median * 1000:8.1f} ms  {median / medians['docker run --rm']:6.2f}")


if __name__ == "__main__":
    main()
