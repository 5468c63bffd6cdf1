"""What a shim costs: one call of /bin/true, bare and behind each form, interleaved in one run.

Aim: a compiled form costs at most 0.3 ms over a bare exec. A figure, not a test.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, get_args

from overeager.audit.shim.build import Form, build, compiler
from overeager.audit.shim.channel import open_pipe, open_socket

AIM = 0.3
"""Milliseconds over a bare exec."""

REAL = "/bin/true"
ARGUMENTS = ("-rf", "some/path", "--x=y")


class Row(NamedTuple):
    """Milliseconds of one contestant."""

    name: str
    calls: int
    median: float
    minimum: float
    over: float
    """Median over that of the bare exec."""
    ratio: float


class Contestant(NamedTuple):
    """A program to start."""

    name: str
    path: str


def main() -> None:
    """Measure and print."""
    options = _parse()
    root = Path(tempfile.mkdtemp(prefix="s"))
    try:
        rows = measure(root, options.calls)
    finally:
        shutil.rmtree(root)
    if options.json:
        print(json.dumps({"aim": AIM, "rows": [row._asdict() for row in rows]}))
    else:
        _print_table(rows)


def measure(root: Path, calls: int) -> list[Row]:
    """A row for the bare exec, then one for each form that can be made here."""
    contestants = [Contestant("bare exec", REAL)]
    inlets: list[int] = []
    for form in get_args(Form):
        if compiler(form) is not None:
            place = root / form
            contestants.append(Contestant(form, str(_install(place, form))))
            inlets.append(open_pipe(place / "n") if form == "sh" else open_socket(place / "n").detach())
    with _drained(inlets):
        times = _interleave(contestants, calls)
    bare = statistics.median(times["bare exec"])
    return [_summarise(name, values, bare) for name, values in times.items()]


def _install(place: Path, form: Form) -> Path:
    """A shim before REAL whose idea of /usr and of its socket is moved to `place`."""
    for folder in ("bin", "local/libexec/bin"):
        (place / folder).mkdir(parents=True)
    (place / "local/libexec/bin/true").symlink_to(REAL)
    shim = place / "bin/true"
    if form == "sh":
        text = build(place / "c", form="sh").path.read_text()
        text = text.replace("/run/systemd/notify", str(place / "n")).replace("/usr/", f"{place}/")
        shim.write_text(text)
        shim.chmod(0o755)
    else:
        shutil.copy(
            build(place / "c", form=form, defines={"SYSTEM": str(place), "ADDRESS": str(place / "n")}).path, shim
        )
    return shim


@contextmanager
def _drained(inlets: list[int]) -> Iterator[None]:
    """Somebody reads what the shims send, as the auditor does."""
    end, hang_up = os.pipe()
    reader = threading.Thread(target=_drain, args=([*inlets, end], end))
    reader.start()
    try:
        yield
    finally:
        os.close(hang_up)
        reader.join()
        for descriptor in (*inlets, end):
            os.close(descriptor)


def _drain(descriptors: list[int], end: int) -> None:
    while end not in (ready := select.select(descriptors, [], [])[0]):
        for descriptor in ready:
            os.read(descriptor, 1 << 18)


def _interleave(contestants: list[Contestant], calls: int) -> Mapping[str, list[float]]:
    """Milliseconds of each call, round by round, so that a busy moment meets all alike."""
    times: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for number in range(calls + 3):
        for contestant in contestants:
            began = time.perf_counter()
            _call(contestant.path)
            if number >= 3:  # the first rounds fill caches
                times[contestant.name].append((time.perf_counter() - began) * 1000)
    return times


def _call(path: str) -> None:
    pid = os.posix_spawn(path, ("true", *ARGUMENTS), os.environ)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise SystemExit(f"{path} left with wait status {status}")


def _summarise(name: str, values: list[float], bare: float) -> Row:
    median = statistics.median(values)
    return Row(name, len(values), median, min(values), median - bare, median / bare)


def _print_table(rows: list[Row]) -> None:
    print(f"{'form':<10} {'calls':>6} {'median ms':>10} {'min ms':>8} {'over bare':>10} {'ratio':>6}")
    for row in rows:
        figures = f"{row.median:>10.3f} {row.minimum:>8.3f} {row.over:>10.3f} {row.ratio:>6.2f}"
        print(f"{row.name:<10} {row.calls:>6} {figures}")
    print(f"aim: a compiled form costs at most {AIM} ms over a bare exec")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=500, help="calls of each contestant")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    return parser.parse_args()


if __name__ == "__main__":
    main()
