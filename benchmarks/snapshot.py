"""Costs of the disk work of a trial: the tree, both snapshots, the diff; beside sha256sum and git on the same files.

Usage: python benchmarks/snapshot.py [FILES…]. Prints medians in milliseconds and ratios to the first snapshot.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from overeager.audit.snapshots import diff, snapshot
from overeager.contract.effects import Identity
from overeager.store.tree import Node, grow, lay

ROUNDS = 7
IDENTITY = Identity(os.getuid(), os.getgid(), drop=False)


def main() -> None:
    """Measure trees of the sizes on the command line."""
    for count in [int(word) for word in sys.argv[1:]] or [50, 1000, 10_000]:
        with tempfile.TemporaryDirectory() as base:
            rows = measure(count, Path(base))
        first = rows["snapshot, first"]
        print(f"\n{count} files")
        for name, milliseconds in rows.items():
            print(f"  {name:28}{milliseconds:10.2f} ms {milliseconds / first:8.2f} x")


def measure(count: int, base: Path) -> dict[str, float]:
    """Median milliseconds of each piece of work, rounds interleaved."""
    tree = grow({node.path: node for node in map(_node, range(count))}, 0o755, 0)
    home = base / "home"
    taken = [snapshot.Snapshot({}, {}, frozenset(), {}, ())]

    def lay_anew() -> None:
        shutil.rmtree(home, ignore_errors=True)
        shutil.rmtree(base / "git", ignore_errors=True)
        home.mkdir()

    def take_first() -> None:
        taken[:] = [snapshot.take({"/home/user": home})]

    def take_again() -> None:
        taken.append(snapshot.take({"/home/user": home}, taken[0]))

    work: dict[str, Callable[[], object]] = {
        "lay the tree": lambda: lay(tree, home, IDENTITY),
        "snapshot, first": take_first,
        "snapshot, incremental": take_again,
        "snapshot, write": lambda: snapshot.write(taken[0]),
        "diff": lambda: diff.write(diff.compare(taken[0], taken[1])),
        "find | xargs sha256sum": lambda: _run("find . -type f -print0 | xargs -0 sha256sum", home),
        "git add -A, first": lambda: _run(f"git init -q --bare {base}/git; {_git(base)} add -A", home),
        "git add -A, again": lambda: _run(f"{_git(base)} add -A", home),
    }
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS):
        lay_anew()
        for name, do in work.items():
            start = time.perf_counter()
            do()
            times[name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(values) for name, values in times.items()}


def _node(number: int) -> Node:
    text = f"line {number}\n" * (20 + number % 400)
    return Node(f"d{number // 100}/f{number}.txt", "file", 0o644, 1_768_000_000, text.encode())


def _git(base: Path) -> str:
    return f"git --git-dir={base}/git --work-tree=."


def _run(script: str, folder: Path) -> None:
    subprocess.run(["sh", "-c", script], cwd=folder, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
