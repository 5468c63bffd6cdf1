"""What a trial costs: 500 trials of the scripted agent with one shell call, through the public `overeager run`.

    python benchmarks/trial_overhead.py [--trials 500] [--jobs 2] [--rooms DIR] [--json]

The fixture is that of a demo scenario, with 50 files and more and a git repository. Prints, with the kernel channel off
and on: trials per second; CPU per trial beyond the child's own, which is measured by running the same script bare on
the same files; the memory of the largest process, and whether it grows with the number; and the parts of each.
Afterwards every bundle is opened and judged: a trap that is UNKNOWN although all channels that can rule it out are
present fails the benchmark. Figures are aims that are reported, never a test.

Rooms lie in memory where there is a tmpfs, so that the program is measured and not the disk; a further, shorter pass
shows what the disk of the default folder adds (ext4 without a journal, as small virtual machines have it, is the worst:
it avoids inodes that were deleted in the last minute, one by one). Bundles are always sealed on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from process_memory import largest, sampled
from trial_figures import AIMS, Figures, Pass, conclude, tell

from overeager.contract.agent import Task
from overeager.contract.effects import Identity
from overeager.contract.registry import Registry
from overeager.loading.locks import judge_lock
from overeager.loading.registry import load_registry
from overeager.model.persona import Expect, Personas, Step
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.run.tools import open_shelf
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import locate_bubblewrap
from overeager.store import run_folder
from overeager.store.bench import build_bench, load_bench
from overeager.store.cache import Cache
from overeager.store.fixture import open_template
from overeager.store.tree import lay

DEMO = Path(__file__).parent.parent / "benches" / "demo"
FIXTURE = "git-overreach-001"
LEAST_FILES = 50
READERS = ("overeager.agents", "overeager.shims", "overeager.atoms")
BARE_RUNS = 50
START_TRIALS = 4
"""Trials of the pass from which the cost of starting the program is known."""


def main() -> None:
    """All passes, in one run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--rooms", type=Path, help="where the trials' folders lie; default: memory where there is some")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures, parts = measure_all(Path(folder), options.trials, options.jobs, options.rooms or default_rooms())
    if options.json:
        print(json.dumps({"figures": [one._asdict() for one in figures], "parts": parts}, indent=2))
    else:
        print("\n".join(tell(figures, parts)))


def default_rooms() -> Path:
    """A tmpfs, else the usual folder."""
    memory = Path("/dev/shm")
    return memory if file_system(memory) == "tmpfs" and os.access(memory, os.W_OK) else Path(tempfile.gettempdir())


def file_system(folder: Path) -> str:
    """The type of the file system on which `folder` lies."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    holding = [(point, kind) for point, kind in mounts if folder.resolve().is_relative_to(point)]
    return max(holding, key=lambda mount: len(mount[0]))[1]


def measure_all(folder: Path, trials: int, jobs: int, rooms: Path) -> tuple[list[Figures], dict[str, float]]:
    """The two aimed passes, then the parts: CPU milliseconds a trial, by what they are for."""
    registry = load_registry(READERS, agents=("scripted",))
    bench = folder / "one-call"
    build_one_call_bench(bench, registry)
    child = measure_child(bench, folder, registry)
    environment = quick_environment(folder, rooms)
    run_once(bench, folder / "first", START_TRIALS, jobs, environment)  # compiles, builds the shim and the fixture
    figures = []
    for what, option in zip(AIMS, ("--no-kernel", "--kernel"), strict=True):
        out = folder / option
        start = run_once(bench, folder / f"start{option}", START_TRIALS, jobs, environment, option)
        whole = run_once(bench, out, trials, jobs, environment, option)
        figures.append(conclude(what, out, start, whole, jobs, child))
        judge_all(out, registry, environment)
    few = max(START_TRIALS, trials // 5)
    blind = cpu_a_trial(bench, folder / "blind", few, jobs, environment, "--no-kernel", "--no-shims")
    usual = {**environment, "TMPDIR": tempfile.gettempdir()}
    disk = cpu_a_trial(bench, folder / "disk", few, jobs, usual, "--no-kernel")
    plain, audited = (one.cpu + one.child_cpu - one.start_cpu for one in figures)
    parts = {
        "start of the program": figures[0].start_cpu,
        "the child, bare": child,
        "an empty bubblewrap": measure_bubblewrap(),
        "trial without shims": blind,
        "shims": plain - blind,
        "kernel channel": audited - plain,
        f"rooms on {file_system(Path(usual['TMPDIR']))} instead of {file_system(rooms)}": disk - plain,
    }
    return figures, parts


def build_one_call_bench(directory: Path, registry: Registry) -> None:
    """A bench with one scenario on a demo fixture whose personas make one shell call."""
    scenario = next(one for one in load_bench(DEMO).scenarios if one.id == FIXTURE)
    assert len(scenario.fixture.files) >= LEAST_FILES, "the fixture is too small for this benchmark"
    assert scenario.fixture.git is not None, "the fixture has no repository"
    steps = (Step(shell="ls -la", expect=Expect()), Step(say="Done."))
    seed = scenario.model_copy(
        update={
            "personas": Personas(cautious=steps, moderate=steps, aggressive=steps),
            "provenance": scenario.provenance.model_copy(update={"seed_scenario": None, "generator": None}),
        }
    )
    build_bench(directory.name, "One shell call.", [(seed.id, seed)], judge_lock(registry, (seed,)), directory)


def quick_environment(folder: Path, rooms: Path) -> dict[str, str]:
    """The environment of a program that is installed: compiled once, whatever the caller's settings are."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**environment, "PYTHONPYCACHEPREFIX": str(folder / "compiled"), "TMPDIR": str(rooms)}


def run_once(bench: Path, out: Path, trials: int, jobs: int, environment: Mapping[str, str], *options: str) -> Pass:
    """One run of `trials` trials (an even number: both variants), watched from outside."""
    arguments = ["--agent", "scripted", "--upstream", "persona:cautious", "--repeats", str(trials // 2)]
    command = [sys.executable, "-m", "overeager.cli", "run", str(bench), *arguments, "-j", str(jobs), "--out", str(out)]
    with tempfile.TemporaryFile() as complaints:
        began = time.monotonic()
        process = subprocess.Popen(
            [*command, *options], stdout=subprocess.DEVNULL, stderr=complaints, env=dict(environment)
        )
        with sampled(process.pid) as samples:
            _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        complaints.seek(0)
        assert process.returncode == 0, complaints.read().decode()[-2000:]
    third = len(samples) // 3
    cpu = (usage.ru_utime + usage.ru_stime) * 1000
    early, late = largest(samples[: third + 1]), largest(samples[len(samples) - third - 1 :])
    return Pass(trials // 2 * 2, seconds, cpu, usage.ru_maxrss / 1024, early, late)


def cpu_a_trial(bench: Path, out: Path, trials: int, jobs: int, environment: Mapping[str, str], *options: str) -> float:
    """CPU milliseconds a trial, everything but the program's start."""
    start = run_once(bench, out.with_name(f"{out.name}-start"), START_TRIALS, jobs, environment, *options)
    whole = run_once(bench, out, trials + START_TRIALS, jobs, environment, *options)
    return (whole.cpu_ms - start.cpu_ms) / (whole.trials - start.trials)


def measure_child(bench: Path, folder: Path, registry: Registry) -> float:
    """CPU milliseconds of the child's own work: the same script on the same files, run bare."""
    scenario = load_bench(bench).scenarios[0]
    home = folder / "home"
    home.mkdir()
    template = open_template(scenario, "project-x", Cache(folder / "shelf"))
    lay(template.tree, home, Identity(os.getuid(), os.getgid(), drop=False))
    return cpu_of(
        script_of(scenario, home, registry), home / "project-x", {"PATH": os.environ["PATH"], "HOME": str(home)}
    )


def script_of(scenario: Scenario, home: Path, registry: Registry) -> tuple[str, ...]:
    """Lay what the scripted agent would run, and give its command line."""
    adapter = registry.agent("scripted")
    steps = scenario.personas.cautious
    workspace = str(home / "project-x")
    launch = adapter.launch(
        Task("", workspace, str(home), None, "", "scripted", adapter.modes[0].id, "", 40, "", "", steps=steps)
    )
    for name, text in launch.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return launch.argv


def measure_bubblewrap() -> float:
    """CPU milliseconds of a sandbox of namespaces and the plainest mounts in which nothing happens."""
    identity = choose_identity()
    program = str(locate_bubblewrap(open_shelf(os.environ).root, identity).executable)
    namespaces = ("--unshare-all", "--die-with-parent", "--as-pid-1")
    mounts = ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
    return cpu_of((program, *namespaces, *mounts, "/bin/true"), Path("/"), {})


def cpu_of(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> float:
    """CPU milliseconds of one run of `command`, its children's included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(BARE_RUNS):
        subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000 / BARE_RUNS


def judge_all(out: Path, registry: Registry, environment: Mapping[str, str]) -> None:
    """Judge every bundle through the command line; asserts that no whole channel left a trap unknown."""
    command = [sys.executable, "-m", "overeager.cli", "judge", str(out), "--json"]
    told = subprocess.run(command, check=True, capture_output=True, env=dict(environment)).stdout
    verdicts = [Verdict.model_validate(verdict) for verdict in json.loads(told)]
    assert len(verdicts) == len(run_folder.sealed_attempts(run_folder.open_run(out)))
    scenarios = {scenario.id: scenario for scenario in load_bench(out / "bench").scenarios}
    for verdict in verdicts:
        assert verdict.valid, verdict.ending
        present = {channel for channel, health in verdict.channels.items() if health.state == "present"}
        for trap in scenarios[verdict.trial.scenario].traps:
            ruling = {c for node in trap.when.atoms() for c in registry.atoms[str(node.atom)][0].ruled_out_by}
            value = next(one.fired for one in verdict.traps if one.id == trap.id)
            assert value.value != "unknown" or not ruling <= present, f"{verdict.trial.name}: {trap.id}: {value.reason}"


if __name__ == "__main__":
    main()
