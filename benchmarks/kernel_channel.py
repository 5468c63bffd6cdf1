"""What the kernel channel costs: the same work in a sandbox without it, with its Python form, with its compiled one.

    python benchmarks/kernel_channel.py [--rounds 5] [--calls 12] [--think 1.0] [--scale 1.0] [--only NAME] [--json]

Two workloads, the forms taking turns in every round, so that figures are ratios within one run:

- *agent-like*: `--calls` tool calls `bash -lc …` (git, grep, a small Python program, sed, ls), each after `--think`
  seconds in which nothing happens, as when a model thinks. Aims: 1.15 in Python, 1.05 compiled.
- *files*, the worst case, with no thinking at all: a clone of 1,000 files, Python that creates, reads, renames, chmods
  and removes 2,000, `grep -r` over 5,000, and 100 times `/bin/true`. Aims: 2.8 and 1.6.

Shims are off: `shim_call.py` measures them. Figures are aims that are reported, never a test.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from overeager.audit.kernel.pump import build as pump_build
from overeager.audit.shim import build as shim_build
from overeager.contract.effects import Limits, SandboxPlan
from overeager.run.stage import Rig, Stage
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import locate_bubblewrap
from overeager.store.room import close_room, open_room

FORMS = ("off", "python", "compiled")
AIMS = {"agent-like": {"python": 1.15, "compiled": 1.05}, "files": {"python": 2.8, "compiled": 1.6}}
ENVIRONMENT = {"HOME": "/home/user", "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "USER": "user"}

TOOL_CALLS = (
    "git -c safe.directory='*' status --short; git -c safe.directory='*' log --oneline | head -5",
    "ls -la src; cat README.md; head -50 src/f1.txt",
    "grep -rn line1 src | head -20",
    "sed -i s/line1/line2/ src/f3.txt; python3 -c 'import json, pathlib; print(*pathlib.Path().rglob(chr(42)))'",
    "mkdir -p build; for i in 1 2 3 4 5; do cp src/f$i.txt build/; done; rm -r build",
    "find . -name '*.txt' | wc -l; python3 -m unittest discover -s tests -q 2>&1 | tail -1",
)

MAKE_FILES = """
import os
for i in range(COUNT):
    open(f'x{i}', 'w').write('text')
for i in range(COUNT):
    open(f'x{i}').read()
for i in range(COUNT):
    os.rename(f'x{i}', f'y{i}'); os.chmod(f'y{i}', 0o600); os.remove(f'y{i}')
"""


class Played(NamedTuple):
    """One run of a workload under one form."""

    seconds: float
    """From the go until all is dead."""
    cpu: float
    """Processor seconds of everything below the trial's process, the auditor among them."""
    records: int
    compiled: bool


class Figure(NamedTuple):
    """A workload under one form."""

    workload: str
    form: str
    seconds: float
    """Median."""
    ratio: float
    """Median of the rounds' ratios to the run without the channel in the same round."""
    cpu_ratio: float
    """The same of processor time, which other work on the machine moves less."""
    records: int
    aim: float | None


def main() -> None:
    """Both workloads, in one run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--think", type=float, default=1.0)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of files")
    parser.add_argument("--only", choices=AIMS, help="one of the workloads")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if os.access("/dev/shm", os.W_OK):
        tempfile.tempdir = "/dev/shm"  # the rooms lie in memory, so that the channel is measured and not the disk
    with tempfile.TemporaryDirectory(prefix="w") as folder:
        Path(folder).chmod(0o755)
        rigs = make_rigs(Path(folder))
        workloads = {
            "agent-like": agent_script(options.calls, options.think),
            "files": files_script(options.scale),
        }
        figures = [
            figure
            for name, script in workloads.items()
            if options.only in (None, name)
            for figure in measure(name, script, rigs, options.rounds, lay(Path(folder), name, options.scale))
        ]
    if options.json:
        print(json.dumps([figure._asdict() for figure in figures], indent=2))
        return
    for figure in figures:
        aim = "" if figure.aim is None else f"  (aim {figure.aim})"
        print(
            f"{figure.workload:11} {figure.form:9} {figure.seconds:8.3f} s  x {figure.ratio:.2f}{aim}  "
            f"cpu x {figure.cpu_ratio:.2f}  {figure.records:7,} records"
        )


def make_rigs(cache: Path) -> dict[str, Rig]:
    """A rig of each form that this machine has."""
    identity = choose_identity()
    shim, pump = shim_build.build(cache), pump_build.build(cache)
    rig = Rig(locate_bubblewrap(cache, identity), shim.path)
    rigs = {"off": rig, "python": rig}
    if pump.path is not None:
        rigs["compiled"] = rig._replace(pump=pump.path)
    return rigs


def agent_script(calls: int, think: float) -> str:
    """Tool calls with a pause before each."""
    turns = [TOOL_CALLS[number % len(TOOL_CALLS)] for number in range(calls)]
    return "\n".join(f"sleep {think}\nbash -lc {quote(turn)} >/dev/null" for turn in turns)


def files_script(scale: float) -> str:
    """The worst case."""
    python = MAKE_FILES.replace("COUNT", str(int(2000 * scale)))
    return "\n".join(
        (
            "git -c safe.directory='*' clone -q /home/user/origin copy",
            f"python3 -c {quote(python)}",
            "grep -r nothing-of-that-name /home/user/many || true",
            f"i=0; while [ $i -lt {int(100 * scale)} ]; do /bin/true; i=$((i + 1)); done",
        )
    )


def quote(text: str) -> str:
    """For a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def measure(name: str, script: str, rigs: dict[str, Rig], rounds: int, template: Path) -> list[Figure]:
    """All forms in every round, after one that is thrown away; `template` is what lies in the home."""
    play(script if name == "files" else "true", rigs["off"], False, template)
    played: dict[str, list[Played]] = {form: [] for form in rigs}
    for turn in range(rounds):
        order = list(rigs)[turn % len(rigs) :] + list(rigs)[: turn % len(rigs)]
        for form in order:
            played[form].append(play(script, rigs[form], form != "off", template))
    assert all(one.compiled == (form == "compiled") for form, all_of in played.items() for one in all_of)
    return [
        Figure(
            name,
            form,
            statistics.median(one.seconds for one in of_form),
            statistics.median(one.seconds / base.seconds for one, base in zip(of_form, played["off"], strict=True)),
            statistics.median(one.cpu / base.cpu for one, base in zip(of_form, played["off"], strict=True)),
            of_form[-1].records,
            AIMS[name].get(form),
        )
        for form, of_form in played.items()
    ]


def play(script: str, rig: Rig, kernel: bool, template: Path) -> Played:
    """The script in a new sandbox, in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, json.dumps(_play(script, rig, kernel, template)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answer:
        told = answer.read()
    os.waitpid(child, 0)
    return Played(*json.loads(told))


def _play(script: str, rig: Rig, kernel: bool, template: Path) -> Played:
    identity = choose_identity()
    room = open_room(None, identity)
    try:
        records = room.root / "out"
        records.mkdir()
        subprocess.run(("cp", "-a", f"{template}/.", str(room.home)), check=True)
        subprocess.run(("chown", "-R", f"{identity.uid}:{identity.gid}", str(room.home)), check=True)
        argv = ("/bin/sh", "-c", script)
        plan = SandboxPlan(
            room, identity, argv, ENVIRONMENT, "/home/user/project", limits=Limits(600), shims=False, kernel=kernel
        )
        spent = _cpu()
        with Stage(plan, rig, records, time.monotonic()) as stage:
            started = stage.start()
            began = time.monotonic()
            stage.go()
            for descriptor in (started.stdout, started.stderr):
                while os.read(descriptor, 1 << 16):
                    pass
            finished = stage.wait()
            seconds = time.monotonic() - began
        if finished.exit_status or (kernel and finished.kernel.state != "present"):
            raise RuntimeError(f"{finished}")
        lines = (records / "kernel.jsonl").read_bytes().count(b"\n") if kernel else 0
        return Played(seconds, _cpu() - spent, lines, finished.compiled)
    finally:
        close_room(room)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def lay(folder: Path, name: str, scale: float) -> Path:
    """A home with a small project; for the worst case also a repository to clone, and many files."""
    home = folder / f"home-{name}"
    scale = scale if name == "files" else 0
    for folder, count in (("project/src", 40), ("origin/src", int(1000 * scale)), ("many", int(5000 * scale))):
        (home / folder).mkdir(parents=True)
        for number in range(count):
            (home / folder / f"f{number}.txt").write_text(f"line1\nline {number}\n")
    (home / "project/README.md").write_text("A project.\n")
    (home / "project/tests").mkdir()
    (home / "project/tests/test_a.py").write_text(
        "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
    )
    for folder in ("project", "origin"):
        git = ("git", "-C", str(home / folder), "-c", "user.name=u", "-c", "user.email=u@example.com")
        for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "--allow-empty", "-m", "first")):
            subprocess.run((*git, *command), check=True, stdout=subprocess.DEVNULL)
    return home


if __name__ == "__main__":
    main()
