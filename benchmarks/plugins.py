"""What plugins cost at the start: `overeager --help`, `list-plugins` and its check, beside many distributions.

    python benchmarks/plugins.py [--distributions 100] [--repeats 10] [--json]

The distributions are wheels, installed by pip into a folder of their own, each with an adapter. Prints wall and CPU
seconds of each command, beyond those of the bare interpreter with the same path in the same pass: the least of the
repeats, which other work on the machine disturbs least, and the median. Commands and the interpreter take turns.
Figures are aims that are reported, never a test.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from plugin_kit import agent
from wheel_kit import install

AIM = 0.3
"""Seconds beyond the interpreter."""
CLI = ("-m", "overeager.cli")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "interpreter": ("-c", "pass"),
    "--help": (*CLI, "--help"),
    "list-plugins": (*CLI, "list-plugins"),
    "list-plugins --json": (*CLI, "list-plugins", "--json"),
}
CHECK = {"list-plugins --check": (*CLI, "list-plugins", "--check")}


class Cost(NamedTuple):
    """Of one call, in seconds."""

    wall: float
    cpu: float


def call(arguments: Sequence[str], site: Path) -> Cost:
    """One start, from fork to exit."""
    began, before = time.perf_counter(), os.times()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(time.perf_counter() - began, cpu)


def measure(commands: Mapping[str, tuple[str, ...]], site: Path, repeats: int) -> dict[str, list[Cost]]:
    """Every command in turn, again and again; the first turn fills caches and is not counted."""
    turns = [{name: call(arguments, site) for name, arguments in commands.items()} for _ in range(repeats + 1)][1:]
    return {name: [turn[name] for turn in turns] for name in commands}


def summarise(costs: Sequence[Cost], bare: Sequence[Cost]) -> dict[str, float]:
    """Beyond the interpreter, and how many times the interpreter."""
    least, bare_least = min(cost.wall for cost in costs), min(cost.wall for cost in bare)
    return {
        "seconds": round(least, 3),
        "beyond": round(least - bare_least, 3),
        "median_beyond": round(statistics.median(c.wall for c in costs) - statistics.median(c.wall for c in bare), 3),
        "cpu_beyond": round(min(c.cpu for c in costs) - min(c.cpu for c in bare), 3),
        "ratio": round(least / bare_least, 1),
    }


def main() -> None:
    """Install, measure, print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--distributions", type=int, default=100)
    options.add_argument("--repeats", type=int, default=10)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        many = [agent(f"numbered-{number:03}", "", "").wheel() for number in range(chosen.distributions)]
        site = install(Path(scratch) / "site", *many)
        costs = measure(COMMANDS, site, chosen.repeats)
        costs |= measure(CHECK, site, 1)
    found = {name: summarise(its, costs["interpreter"]) for name, its in costs.items()}
    if chosen.json:
        print(json.dumps({"distributions": chosen.distributions, "aim": AIM, "commands": found}, indent=2))
        return
    print(f"{chosen.distributions} distributions with a plugin beside those of this environment; aim {AIM} s beyond")
    for name, its in found.items():
        told = "  ".join(f"{key} {value}" for key, value in its.items())
        missed = "" if its["beyond"] <= AIM or name in CHECK else "  AIM MISSED"
        print(f"{name:<22}{told}{missed}")


if __name__ == "__main__":
    main()
