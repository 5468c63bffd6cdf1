"""What a trial costs: 500 trials of the scripted agent with one shell call, through the public `overeager run`.

    python benchmarks/trial_overhead.py [--trials 500] [-j 2] [--json]

Prints, with the kernel channel off and on: trials per second, CPU per trial beyond the child's own, peak memory of the
largest process, and the parts of a trial's wall time. Afterwards every bundle is opened and judged; an UNKNOWN in a trap
whose ruling channels are all present fails the benchmark. Figures are aims that are reported, never a test.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from overeager.loading.locks import judge_lock
from overeager.loading.registry import load_registry
from overeager.model.persona import Expect, Personas, Step
from overeager.model.scenario import Scenario
from overeager.store import bundle, run_folder
from overeager.store.bench import load_bench, write_bench

ROOT = Path(__file__).parent.parent
FIXTURE = "git-overreach-001"
AIMS = {"off": 60, "on": 40}


class Figures(NamedTuple):
    """One pass over all trials."""

    kernel: str
    trials: int
    per_second: float
    cpu_ms: float
    child_cpu_ms: float
    peak_mib: float
    setup_ms: float
    agent_ms: float
    teardown_ms: float
    seal_kib: float


def build_one_call_bench(directory: Path) -> Path:
    """A bench with one scenario on a demo fixture (50 files and more, a repository) whose persona makes one call."""
    bench = load_bench(ROOT / "benches" / "demo")
    scenario = next(scenario for scenario in bench.scenarios if scenario.id == FIXTURE)
    assert len(scenario.fixture.files) >= 50 and scenario.fixture.git, "the fixture is too small for this benchmark"
    step = (Step(shell="ls -la", expect=Expect()), Step(say="Done."))
    one_call = scenario.model_copy(update={"personas": Personas(cautious=step, moderate=step, aggressive=step)})
    registry = load_registry(("overeager.agents", "overeager.shims", "overeager.atoms"))
    scenarios: tuple[Scenario, ...] = (one_call,)
    write_bench("one-call", "One call.", scenarios, judge_lock(registry, scenarios), directory)
    return directory


def measure(bench: Path, out: Path, trials: int, jobs: int, kernel: bool, child_cpu_ms: float) -> Figures:
    """One pass."""
    command = [
        sys.executable, "-m", "overeager.cli", "run", str(bench), "--agent", "scripted", "--upstream", "persona:cautious",
        "--repeats", str(trials // 2), "-j", str(jobs), "--out", str(out), "--kernel" if kernel else "--no-kernel",
    ]  # fmt: skip
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"the run failed with status {process.returncode}"
    folder = run_folder.open_run(out)
    manifests = [bundle.open_bundle(sealed.path).manifest for sealed in run_folder.sealed_attempts(folder)]
    assert len(manifests) == trials, f"{len(manifests)} of {trials} trials were sealed"
    timings = [manifest.timings for manifest in manifests]
    sizes = [sealed.path.stat().st_size for sealed in run_folder.sealed_attempts(folder)]
    return Figures(
        kernel="on" if kernel else "off",
        trials=trials,
        per_second=trials / seconds,
        cpu_ms=(usage.ru_utime + usage.ru_stime) * 1000 / trials - child_cpu_ms,
        child_cpu_ms=child_cpu_ms,
        peak_mib=usage.ru_maxrss / 1024,
        setup_ms=statistics.median(t.setup for t in timings),
        agent_ms=statistics.median(t.agent for t in timings),
        teardown_ms=statistics.median(t.teardown for t in timings),
        seal_kib=statistics.median(sizes) / 1024,
    )


def measure_child(bench: Path) -> float:
    """CPU milliseconds of the child's own work: the same script, run bare 50 times."""
    from overeager.contract.agent import Task

    scenario = load_bench(bench).scenarios[0]
    adapter = load_registry(("overeager.agents",), agents=("scripted",)).agent("scripted")
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "project-x"
        workspace.mkdir()
        task = Task("", str(workspace), folder, None, "", "scripted", adapter.modes[0].id, "0", 40, "", "",
                    steps=scenario.personas.cautious)  # fmt: skip
        launch = adapter.launch(task)
        for name, text in launch.files.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(50):
            subprocess.run(launch.argv, cwd=workspace, env={"PATH": os.environ["PATH"], "HOME": folder},
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000 / 50


def judge_all(out: Path) -> None:
    """Open and judge every bundle; no trap whose channels are all present may be UNKNOWN."""
    command = [sys.executable, "-m", "overeager.cli", "judge", str(out), "--json"]
    verdicts = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    for verdict in verdicts:
        assert verdict["valid"], verdict["ending"]
        whole = {name for name, health in verdict["channels"].items() if health["state"] == "present"}
        for trap in verdict["traps"]:
            blind = [word for word in ("agent", "fs", "kernel", "shim", "speech") if word not in whole]
            named = any(word in trap["fired"]["reason"] for word in blind)
            assert trap["fired"]["value"] != "unknown" or named, f"{verdict['trial']}: {trap}"


def main() -> None:
    """Both passes, in one run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = build_one_call_bench(Path(folder) / "one-call")
        child = measure_child(bench)
        rows = []
        for kernel in (False, True):
            out = Path(folder) / f"run-{kernel}"
            rows.append(measure(bench, out, options.trials, options.jobs, kernel, child))
            judge_all(out)
    if options.json:
        print(json.dumps([row._asdict() for row in rows], indent=2))
        return
    for row in rows:
        print(
            f"kernel {row.kernel}: {row.per_second:.1f} trials/s (aim {AIMS[row.kernel]}), {row.cpu_ms:.1f} ms CPU a trial beyond "
            f"the child's {row.child_cpu_ms:.1f} (aim 20), peak {row.peak_mib:.0f} MiB, set-up {row.setup_ms:.1f} ms, "
            f"agent {row.agent_ms:.1f}, tear-down {row.teardown_ms:.1f}, bundle {row.seal_kib:.0f} KiB"
        )


if __name__ == "__main__":
    main()
