"""Names that nothing has, and choices that cannot be: refused before anything is made, with the near miss."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from bad_kit import refusal
from run_kit import DEMO, overeager

UNKNOWN = {
    "agent": (("--agent", "scriptd"), "PLG001", "did you mean 'scripted'?"),
    "agent that nothing resembles": (("--agent", "zzz"), "PLG001", "installed here: claude-code, scripted"),
    "agent version": (("--agent", "claude-code@2.1.118"), "AGT001", "did you mean '2.1.117'?"),
    "version of the built-in agent": (("--agent", "scripted@9"), "RUN012", "write --agent scripted"),
    "mode": (("--agent", "claude-code", "--mode", "acceptEdit"), "RUN004", "did you mean 'acceptEdits'?"),
    "upstream": (("--upstream", "provder"), "RUN005", "did you mean 'provider'?"),
    "persona": (("--upstream", "persona:agressive"), "RUN005", "did you mean 'persona:aggressive'?"),
    "model for a script": (("--upstream", "provider", "--model", "m"), "RUN005", "use --upstream persona"),
    "no model id": (("--agent", "claude-code", "--upstream", "provider"), "RUN006", "add --model"),
    "scenario": (("--scenario", "cleanup-overreach-0O1"), "RUN001", "did you mean 'cleanup-overreach-001'?"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_choice_that_cannot_be_is_refused_with_the_cure(name: str, tmp_path: Path) -> None:
    options, code, cure = UNKNOWN[name]
    assert cure in refusal("run", DEMO, *options, "--out", tmp_path / "run", code=code)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sandbox
@pytest.mark.real_cli
def test_the_real_api_without_a_key_is_refused_with_the_variable_that_holds_it(tmp_path: Path) -> None:
    options = ("--agent", "claude-code", "--upstream", "provider", "--model", "m", "--out", tmp_path / "run")
    said = refusal("run", DEMO, *options, environment={"ANTHROPIC_API_KEY": ""}, code="RUN007")
    assert "set ANTHROPIC_API_KEY" in said
    assert list(tmp_path.iterdir()) == []


PLUGINS = {
    "unknown": ({"OVEREAGER_ONLY_PLUGINS": "scriptedd"}, "PLG002", "did you mean 'scripted'?"),
    "agent blocked": ({"OVEREAGER_BLOCK_PLUGINS": "scripted"}, "PLG001", "is installed, but blocked as 'scripted'"),
    "atoms left out": ({"OVEREAGER_BLOCK_PLUGINS": "atoms:core"}, "PLG011", "plugin 'core' (atoms), which is kept out"),
    "shims left out": ({"OVEREAGER_BLOCK_PLUGINS": "shims:core"}, "PLG011", "plugin 'core' (shims), which is kept out"),
}


@pytest.mark.parametrize("name", PLUGINS)
def test_a_run_without_a_plugin_that_it_needs_is_refused(name: str, tmp_path: Path) -> None:
    environment, code, words = PLUGINS[name]
    assert words in refusal("run", DEMO, "--out", tmp_path / "run", environment=environment, code=code)
    assert list(tmp_path.iterdir()) == []


def test_an_agent_that_is_not_among_the_only_plugins_is_refused(tmp_path: Path) -> None:
    environment = {"OVEREAGER_ONLY_PLUGINS": "archetypes"}
    options = ("--agent", "claude-code", "--out", tmp_path / "run")
    said = refusal("run", DEMO, *options, environment=environment, code="PLG001")
    assert "'claude-code' is installed, but not among the only ones: archetypes" in said


def test_a_bench_that_was_locked_without_shims_is_run_without_them_only_when_told(tmp_path: Path) -> None:
    bench = Path(copytree(DEMO, tmp_path / "demo"))
    environment = {"OVEREAGER_BLOCK_PLUGINS": "shims:core"}
    assert overeager("bench", "relock", bench, environment=environment).returncode == 0
    said = refusal("run", bench, "--out", tmp_path / "run", environment=environment, code="RUN011")
    assert "add --no-shims" in said


def test_a_bench_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert f"in {tmp_path / 'benhc'}" in refusal("run", tmp_path / "benhc", code="BEN001")


def test_an_unknown_seed_scenario_is_refused_with_the_near_miss(tmp_path: Path) -> None:
    said = refusal("bench", "build", tmp_path / "b", "--seed-scenario", "git-overreach-01", code="BEN013")
    assert "did you mean 'git-overreach-001'?" in said


def test_an_unknown_agent_is_not_installed(tmp_path: Path) -> None:
    assert "did you mean 'claude-code'?" in refusal("agents", "install", "claude-coda", code="PLG001")
    assert "pinned: 2.1.117" in refusal("agents", "install", "claude-code@1.0.0", code="AGT001")
