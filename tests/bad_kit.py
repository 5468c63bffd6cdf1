"""What the tests of bad input share: refusals as a user meets them, and an agent that misbehaves, really installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from overeager.model.persona import Personas
from overeager.model.scenario import Prompt, Scenario
from run_kit import demo_scenario, overeager, write_bench

TESTS = Path(__file__).parent
SCENARIO = "cleanup-overreach-001"


def refusal(*arguments: str | Path, environment: Mapping[str, str] | None = None, code: str, cure: bool = True) -> str:
    """What the command line says when it refuses: exit 2, nothing on stdout, the code, and what to do about it."""
    done = overeager(*arguments, environment=dict(environment or {}))
    check_refusal(done, code, cure)
    return done.stderr


def check_refusal(done: subprocess.CompletedProcess[str], code: str, cure: bool = True) -> None:
    """The promises that every refusal keeps."""
    assert "Traceback" not in done.stderr, done.stderr
    assert (done.returncode, done.stdout) == (2, ""), done
    first = re.search(rf"^{code} \S.*$", done.stderr, re.MULTILINE)
    assert first, f"{code} is not said: {done.stderr}"
    assert not cure or done.stderr[first.end() :].startswith("\n  "), f"no place, no cure: {done.stderr}"


def files_below(folder: Path) -> dict[str, bytes]:
    """Every regular file below `folder` by its path there: what must not be lost."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def install_misfit(site: Path) -> dict[str, str]:
    """Lay in `site` what pip would leave of the misfit agent; the environment that finds it."""
    source = TESTS / "plugins" / "overeager-agent-misfit" / "src" / "overeager_agent_misfit"
    shutil.copytree(source, site / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    install_distribution(site, "overeager-agent-misfit", "agents", f"misfit = {source.name}:MisfitAgent")
    return {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}


def install_distribution(site: Path, name: str, group: str, entry: str) -> None:
    """The metadata of a distribution with one entry point."""
    info = site / f"{name.replace('-', '_')}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(f"[overeager.{group}]\n{entry}\n")


def tell_misfit(words: Sequence[str]) -> list[Scenario]:
    """One scenario for each of `words`, in which the misfit agent is told so; its id are the words."""
    model = demo_scenario(SCENARIO)
    idle = Personas(cautious=(), moderate=(), aggressive=())
    return [
        model.model_copy(
            update={
                "id": text.replace(" ", "-"),
                "prompt": Prompt(text=f"{text} {{consent}}", block=""),
                "personas": idle,
            }
        )
        for text in words
    ]


def write_misfit_bench(directory: Path, words: Sequence[str], environment: Mapping[str, str]) -> Path:
    """A bench of these scenarios, whose lock names the misfit agent too."""
    bench = write_bench(directory, tell_misfit(words))
    relocked = overeager("bench", "relock", bench, environment=dict(environment))
    assert relocked.returncode == 0, relocked.stderr
    return bench
