"""Commands that measure stop at a plugin that they need and cannot have, before the first trial, and say what to do."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from overeager.loading.registry import load_registry
from overeager.model.bundle import BundleManifest
from overeager.store import run_folder
from plugin_kit import BROKEN, GOOD, MISFIT, Plugin, overeager
from run_kit import DEMO
from wheel_kit import Wheel, install

SCENARIO = "cleanup-overreach-001"

SHIMS = """
from overeager import ShimRule, ShimSet, hookimpl

api = 1

def read(argv, cwd):
    return ()

@hookimpl
def overeager_shims():
    return [ShimSet("more", tuple(ShimRule(name, read, shimmed=False) for name in {commands!r}))]
"""


def shims(name: str, *commands: str) -> Wheel:
    return Plugin("shims", name, SHIMS.format(commands=commands)).wheel()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Broken plugins of every kind, and some that work."""
    module_only = next(one for one in MISFIT if one.name == "module-only")
    wheels = [one.wheel() for one in (*GOOD, *BROKEN, module_only)]
    return install(tmp_path_factory.mktemp("hard") / "site", *wheels, shims("more", "moreover"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder whose bundles were recorded elsewhere."""
    folder = tmp_path_factory.mktemp("golden") / "run"
    with as_file(files("overeager.testing").joinpath("golden")) as recorded:
        shutil.copytree(recorded, folder)
    return folder


def assert_stopped(done: subprocess.CompletedProcess[str], plugin: Plugin) -> None:
    assert done.returncode == 2, done.stderr
    first, where, cure = done.stderr.splitlines()[:3]
    assert first.startswith(f"{plugin.code} the plugin '{plugin.name}' ({plugin.group}) ")
    assert plugin.reason in first or plugin.status == "duplicate"  # of two, the other may be told first
    assert "overeager-test-" in where
    assert " 1.2, " in where
    assert cure.strip()
    assert f"  in {plugin.distribution} 1.2, " in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("plugin", BROKEN, ids=lambda plugin: plugin.distribution)
def test_run_stops_before_the_first_trial(plugin: Plugin, site: Path, home: Path, tmp_path: Path) -> None:
    agent = plugin.name if plugin.group == "agents" else "scripted"
    arguments = ("run", DEMO, "--agent", agent, "--out", tmp_path / "run", "--only-plugin", plugin.label)
    assert_stopped(overeager(*arguments, site=site, home=home), plugin)
    assert not (tmp_path / "run").exists()


def test_run_needs_no_other_agent_than_its_own(site: Path, home: Path, tmp_path: Path) -> None:
    arguments = ("run", DEMO, "--out", tmp_path / "run", "--scenario", "nowhere")
    told = overeager(*arguments, "--only-plugin", "agents:future", site=site, home=home).stderr
    assert told.startswith("RUN001 the bench 'demo' has no scenario 'nowhere'")


def measuring(bench: Path, run: Path) -> Sequence[tuple[str | Path, ...]]:
    """Every command that loads plugins, but for `run`."""
    trial = sorted(path.name for path in (run / "bundles").iterdir())[0].removesuffix(".1.zip")
    return (
        ("bench", "build", bench.with_name("built")),
        ("bench", "lint", bench),
        ("bench", "relock", bench),
        ("judge", run),
        ("judge", run, "--explain", trial),
        ("report", run),
        ("compare", run, run),
        ("show", run, trial),
        ("annotate", "sample", run, "--out", bench.with_name("labels")),
        ("atoms", "list"),
        ("atoms", "explain", "fs.deleted"),
    )


@pytest.mark.parametrize("number", range(11))
def test_every_command_that_measures_stops_and_can_be_told_to_leave_the_plugin_out(
    number: int, site: Path, home: Path, golden: Path, tmp_path: Path
) -> None:
    bench = Path(shutil.copytree(DEMO, tmp_path / "demo"))
    command = measuring(bench, golden)[number]
    leaves = next(one for one in BROKEN if one.name == "leaves")
    assert_stopped(overeager(*command, "--only-plugin", "leaves", site=site, home=home), leaves)
    blocked = overeager(*command, "--only-plugin", "leaves", "--block-plugin", "leaves", site=site, home=home)
    assert "PLG003" not in blocked.stderr


def test_the_environment_says_it_as_well(site: Path, home: Path) -> None:
    command = ("atoms", "explain", "fs.deleted")
    assert overeager(*command, site=site, home=home, OVEREAGER_ONLY_PLUGINS="leaves").returncode == 2
    variables = {"OVEREAGER_ONLY_PLUGINS": "leaves", "OVEREAGER_BLOCK_PLUGINS": "atoms:leaves"}
    assert overeager(*command, site=site, home=home, **variables).returncode == 0


def test_bench_build_stops_at_a_broken_archetype_package(site: Path, home: Path, tmp_path: Path) -> None:
    plugin = next(one for one in MISFIT if one.name == "module-only")
    arguments = ("bench", "build", tmp_path / "bench", "--only-plugin", "module-only")
    assert_stopped(overeager(*arguments, site=site, home=home), plugin)
    assert not (tmp_path / "bench").exists()


def test_bench_build_without_archetypes_says_what_to_install_or_to_allow(
    site: Path, home: Path, tmp_path: Path
) -> None:
    arguments = ("bench", "build", tmp_path / "bench", "--only-plugin", "good")
    told = overeager(*arguments, site=site, home=home).stderr.splitlines()
    assert told[0].startswith(
        "PLG009 every plugin with archetypes was kept out: archetypes:archetypes of overeager-arch"
    )
    assert told[1] == "  allow one of them"
    assert not (tmp_path / "bench").exists()


def test_a_run_without_a_plugin_that_the_bench_was_built_with_stops(site: Path, home: Path, tmp_path: Path) -> None:
    bench = Path(shutil.copytree(DEMO, tmp_path / "bench"))
    everything = ("--only-plugin", "more", "--only-plugin", "archetypes")
    assert overeager("bench", "relock", bench, *everything, site=site, home=home).returncode == 0
    run = ("run", bench, "--out", tmp_path / "run")
    away = overeager(*run, site=home, home=home).stderr
    assert away.startswith("PLG011 the bench was built with the plugin 'more' (shims), which is not installed\n")
    assert f"bench relock {bench}` to go without it" in away
    blocked = overeager(*run, "--only-plugin", "archetypes", site=site, home=home).stderr
    assert "PLG011 the bench was built with the plugin 'more' (shims), which is kept out: shims:more of ov" in blocked
    assert not (tmp_path / "run").exists()


def test_a_judge_without_a_plugin_that_the_bench_was_built_with_stops(
    site: Path, home: Path, golden: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(golden, tmp_path / "run"))
    assert overeager("bench", "relock", run / "bench", "--only-plugin", "more", site=site, home=home).returncode == 0
    told = overeager("judge", run, site=home, home=home).stderr
    assert told.startswith("JDG010 ")
    assert "the plugin 'more' (shims) is in the lock and not installed" in told


def test_an_agent_that_is_not_installed_is_told_apart_from_one_that_is_broken(
    site: Path, home: Path, tmp_path: Path
) -> None:
    run = ("run", DEMO, "--out", tmp_path / "run", "--agent")
    told = overeager(*run, "codex", site=home, home=home).stderr
    assert told.startswith("PLG001 no installed plugin offers the agent 'codex'\n")
    assert "pip install overeager-agent-codex" in told
    kept_out = overeager(*run, "future", "--block-plugin", "future", site=site, home=home).stderr
    assert kept_out.startswith("PLG001 the agent 'future' is installed, but blocked as 'future'\n")


@pytest.mark.sandbox
def test_a_bundle_holds_what_was_chosen_and_the_known_gaps_of_its_plugins(
    site: Path, home: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    words = ("--only-plugin", "gapped", "--only-plugin", "more", "--block-plugin", "shims:more")
    arguments = ("run", DEMO, "--out", run, "--scenario", SCENARIO, "--upstream", "persona:cautious")
    done = overeager(*arguments, "--variant", "kept", *words, site=site, home=home)
    assert done.returncode == 0, done.stderr
    assert f"judge {run} --only-plugin gapped --only-plugin more --block-plugin shims:more" in done.stderr
    manifest = only_manifest(run)
    assert manifest.plugin_choice.only == ("gapped", "more")
    assert manifest.plugin_choice.block == ("shims:more",)
    assert "shims:more of overeager-test-more 1.2" in manifest.plugin_choice.left_out
    assert "atoms:leaves of overeager-test-leaves 1.2" in manifest.plugin_choice.left_out
    gaps = {plugin.name: plugin.known_gaps for plugin in manifest.plugins if plugin.known_gaps}
    assert gaps == {"gapped": {"atom-monotone": "an idea of ours"}}
    other = overeager(*arguments, "--variant", "kept", "--only-plugin", "gapped", "--resume", site=site, home=home)
    assert other.stderr.startswith("RUN009 the run was planned with other options")


@pytest.mark.sandbox
def test_without_a_word_on_plugins_a_bundle_says_nothing_of_a_choice(home: Path, tmp_path: Path) -> None:
    arguments = ("run", DEMO, "--out", tmp_path / "run", "--scenario", SCENARIO, "--upstream", "persona:cautious")
    assert overeager(*arguments, "--variant", "kept", site=home, home=home).returncode == 0
    manifest = only_manifest(tmp_path / "run")
    assert b"plugin_choice" not in manifest.canonical()
    assert b"known_gaps" not in manifest.canonical()


def only_manifest(run: Path) -> BundleManifest:
    (sealed,) = run_folder.sealed_attempts(run_folder.open_run(run))
    return run_folder.open_attempt(sealed).manifest


def test_a_plugin_that_was_imported_before_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long-lived process pays for a trial import once."""
    load_registry()
    monkeypatch.setattr("overeager.loading.registry.probe", None)
    assert "claude-code" in load_registry().agents
