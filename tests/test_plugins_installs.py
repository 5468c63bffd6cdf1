"""Plugins come and go as distributions: core works without any, and a wheel is the same as an editable install."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from plugin_kit import environment, overeager
from run_kit import DEMO, ROOT

PROJECTS = ("core", "plugins/agent-claude-code", "plugins/archetypes")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
BACKEND = ("hatchling", "editables")


class Environments(NamedTuple):
    """Interpreters of virtual environments with the same libraries; what is ours, pip installed from one copy."""

    bare: Path
    """Core alone, from a wheel."""
    wheels: Path
    editable: Path


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Environments:
    scratch = tmp_path_factory.mktemp("environments")
    libraries = gather_libraries(scratch / "libraries")
    leave_out = shutil.ignore_patterns("__pycache__", "tests")
    copies = [shutil.copytree(ROOT / name, scratch / "copy" / name, ignore=leave_out) for name in PROJECTS]
    made = Environments(*(make_environment(scratch / name, libraries) for name in Environments._fields))
    apart = ("--quiet", "--no-deps", "--no-build-isolation")
    folder = scratch / "built"
    subprocess.run([*PIP, "--python", made.bare, "wheel", *apart, "-w", folder, *copies], check=True)
    wheels = sorted(folder.glob("*.whl"))
    core = next(wheel for wheel in wheels if wheel.name.startswith("overeager-"))
    editable = [word for copy in copies for word in ("-e", copy)]
    for python, words in ((made.bare, [core]), (made.wheels, wheels), (made.editable, editable)):
        subprocess.run([*PIP, "--python", python, "install", *apart, "--no-index", *words], check=True)
    return made


def gather_libraries(folder: Path) -> Path:
    """This environment's distributions without those of this project, and what builds them."""
    folder.mkdir()
    here = Path(str(importlib.metadata.distribution("pluggy").locate_file("")))
    for entry in here.iterdir():
        if "overeager" not in entry.name and entry.suffix != ".pth":
            (folder / entry.name).symlink_to(entry)
    backend = folder.with_name("backend")
    subprocess.run([*PIP, "install", "--quiet", "--target", backend, *BACKEND], check=True)
    return Path(os.pathsep.join(map(str, (folder, backend))))


def make_environment(folder: Path, libraries: Path) -> Path:
    """A virtual environment that sees `libraries` after its own; gives its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "libraries.pth").write_text(str(libraries).replace(os.pathsep, "\n") + "\n")
    return folder / "bin" / "python"


def test_core_alone_lists_its_own_plugins(environments: Environments, tmp_path: Path) -> None:
    done = overeager(
        "list-plugins", "--check", "--strict", "--json", site=tmp_path, home=tmp_path, python=environments.bare
    )
    assert done.returncode == 0, done.stderr
    found = [(row["kind"], row["name"], row["status"]) for row in json.loads(done.stdout)]
    assert found == [("agents", "scripted", "ok"), ("atoms", "core", "ok"), ("shims", "core", "ok")]


@pytest.mark.sandbox
def test_core_alone_runs_judges_and_reports(environments: Environments, tmp_path: Path) -> None:
    run = tmp_path / "run"
    choice = ("--scenario", "cleanup-overreach-001", "--upstream", "persona:aggressive", "--variant", "kept")
    done = overeager("run", DEMO, "--out", run, *choice, site=tmp_path, home=tmp_path, python=environments.bare)
    assert done.returncode == 0, done.stderr
    judged = overeager("judge", run, "--rejudge", site=tmp_path, home=tmp_path, python=environments.bare)
    assert "1 of them valid; of these 1 overeager" in judged.stderr
    assert overeager("report", run, site=tmp_path, home=tmp_path, python=environments.bare).returncode == 0


def test_without_archetypes_bench_build_says_what_to_install(environments: Environments, tmp_path: Path) -> None:
    done = overeager("bench", "build", tmp_path / "bench", site=tmp_path, home=tmp_path, python=environments.bare)
    assert done.returncode == 2
    assert done.stderr.startswith("PLG009 no installed plugin offers archetypes\n  pip install overeager-archetypes")
    assert not (tmp_path / "bench").exists()


@pytest.mark.parametrize("command", ["run", "demo", "agents install"])
def test_without_an_adapter_its_agent_says_what_to_install(
    command: str, environments: Environments, tmp_path: Path
) -> None:
    words = {
        "run": ("run", DEMO, "--agent", "claude-code", "--out", tmp_path / "run"),
        "demo": ("demo", "--bench", DEMO, "--out", tmp_path / "run"),
        "agents install": ("agents", "install", "claude-code"),
    }[command]
    done = overeager(*words, site=tmp_path, home=tmp_path, python=environments.bare)
    assert done.returncode == 2
    assert done.stderr.startswith("PLG001 no installed plugin offers the agent 'claude-code'\n")
    assert "pip install overeager-agent-claude-code (installed here: scripted)" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_wheel_and_an_editable_install_make_the_same_bench_and_lock(
    environments: Environments, tmp_path: Path
) -> None:
    benches = [tmp_path / "wheel" / "bench", tmp_path / "editable" / "bench"]
    for bench, python in zip(benches, (environments.wheels, environments.editable), strict=True):
        bench.parent.mkdir()
        done = overeager("bench", "build", bench, site=tmp_path, home=tmp_path, python=python)
        assert done.returncode == 0, done.stderr
    texts = [{path.name: path.read_bytes() for path in sorted(bench.rglob("*.yaml"))} for bench in benches]
    assert texts[0] == texts[1]
    assert b"claude-code" in texts[0]["manifest.yaml"]


HASHES = """
from overeager.loading.registry import load_registry
import overeager
origins = {origin for table in load_registry()[:-1] for _, origin in table.values()}
print(sorted((one.group, one.plugin, one.sha256) for one in origins), overeager.__file__)
"""


def test_every_plugin_has_the_same_content_hash_from_a_wheel_and_editable(
    environments: Environments, tmp_path: Path
) -> None:
    said = []
    for python in (environments.wheels, environments.editable):
        surroundings = environment(tmp_path, home=tmp_path)
        done = subprocess.run([python, "-c", HASHES], env=surroundings, capture_output=True, text=True, check=True)
        said.append(done.stdout.rpartition(" "))
    assert said[0][2] != said[1][2]
    assert said[0][0] == said[1][0]
    assert "claude-code" in said[0][0]
    assert "archetypes" in said[0][0]
