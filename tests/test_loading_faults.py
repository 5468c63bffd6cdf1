"""Broken plugins, installed by pip: `list-plugins` tells each with its cause and its cure, whatever the others do."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from plugin_kit import PLUGINS, Plugin, agent, atoms, environment, overeager, run_python
from run_kit import is_alive, wait_until_dead
from wheel_kit import Wheel, install

FIELDS = {"kind", "name", "distribution", "version", "status", "reason", "code", "cure", "known_gaps", "clis", "faulty"}

PROBE = """
import json
from overeager.errors import ErrorGroup, OvereagerError
from overeager.loading.registry import load_registry
from overeager.loading.rows import plugin_rows

errors = {}
for row in plugin_rows(False):
    if row.distribution.startswith("overeager-test-"):
        try:
            load_registry(only=[f"{row.kind}:{row.name}"])
        except OvereagerError as error:
            several = getattr(error, "errors", [error])
            errors[row.name] = [[one.code, one.what, str(one.where), one.cure] for one in several]
try:
    load_registry(only=["good", "takes-a-name"])
except ErrorGroup as error:
    errors["clash"] = [[one.code, one.what, str(one.where), one.cure] for one in error.errors]
print(json.dumps(errors))
"""


def by_distribution(plugin: Plugin) -> str:
    return plugin.distribution


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of distributions, nearly all broken."""
    return install(tmp_path_factory.mktemp("faults") / "site", *(plugin.wheel() for plugin in PLUGINS))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def rows(site: Path, home: Path) -> list[dict[str, Any]]:
    """What `list-plugins --check` says with all of them installed."""
    done = overeager("list-plugins", "--check", "--json", site=site, home=home)
    assert done.returncode == 0, done.stderr
    result: list[dict[str, Any]] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def errors(site: Path, home: Path) -> dict[str, Any]:
    """What loading each of them alone raises."""
    done = run_python(PROBE, site, home=home)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("plugin", PLUGINS, ids=by_distribution)
def test_list_plugins_says_what_is_wrong(plugin: Plugin, rows: list[dict[str, Any]]) -> None:
    (row,) = [row for row in rows if row["distribution"] == plugin.distribution]
    assert row["kind"] == plugin.group
    assert row["name"] == plugin.name
    assert row["version"] == "1.2"
    assert row["status"] == plugin.status, row
    assert plugin.reason in row["reason"]
    assert row["faulty"] == (plugin.status != "ok")
    assert bool(row["cure"]) == row["faulty"]


@pytest.mark.parametrize("plugin", [one for one in PLUGINS if one.code], ids=by_distribution)
def test_loading_stops_with_distribution_cause_and_cure(plugin: Plugin, errors: dict[str, Any]) -> None:
    said = [error for error in errors[plugin.name] if plugin.distribution in error[2]]
    ((code, what, _where, cure),) = said
    assert code == plugin.code
    assert what.startswith(f"the plugin '{plugin.name}' ({plugin.group}) ")
    assert plugin.reason in what
    assert cure


def test_good_plugins_load_beside_broken_ones(errors: dict[str, Any]) -> None:
    assert not {"good", "good-agent", "good-range", "gapped"} & set(errors)


def test_an_id_that_two_plugins_offer_is_an_error_that_names_both(errors: dict[str, Any]) -> None:
    ((code, what, where, _cure),) = errors["clash"]
    assert code == "PLG006"
    assert "takes-a-name" in what
    assert "'good' of overeager-test-good 1.2" in what
    assert "overeager-test-takes-a-name 1.2" in where


def test_known_gaps_are_shown_with_their_reason(rows: list[dict[str, Any]]) -> None:
    (row,) = [row for row in rows if row["name"] == "gapped"]
    assert row["known_gaps"] == {"atom-monotone": "an idea of ours"}
    assert row["reason"] == "known gaps: atom-monotone (an idea of ours)"


def test_without_check_nothing_is_imported(site: Path, home: Path) -> None:
    code = (
        "import sys; from overeager.loading.rows import plugin_rows\n"
        "print({row.status for row in plugin_rows(False)})\n"
        "print([name for name in sys.modules if name.startswith('overeager_')])"
    )
    statuses, imported = run_python(code, site, home=home).stdout.splitlines()
    assert statuses in ("{'found', 'duplicate'}", "{'duplicate', 'found'}")
    assert imported == "[]"


def test_with_check_nothing_is_imported_by_the_process_that_asks(site: Path, home: Path) -> None:
    code = (
        "import sys; from overeager.loading.rows import plugin_rows; plugin_rows(True, only=['good'])\n"
        "print([name for name in sys.modules if name.startswith('overeager_')])"
    )
    assert run_python(code, site, home=home).stdout == "[]\n"


def test_nothing_is_written_under_the_home_directory(rows: list[dict[str, Any]], errors: object, home: Path) -> None:
    assert rows
    assert errors
    assert list(home.rglob("*")) == []


def test_what_an_import_starts_does_not_outlive_the_check(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    started = f"import subprocess\nopen({str(note)!r}, 'w').write(str(subprocess.Popen(['sleep', '600']).pid))\n"
    site = install(tmp_path / "site", atoms("starts", started).wheel())
    done = overeager("list-plugins", "--check", "--json", "--only-plugin", "starts", site=site, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert wait_until_dead([int(note.read_text())]) == []


def test_ctrl_c_during_an_import_ends_the_command_and_the_import(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    source = f"import os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    site = install(tmp_path / "site", atoms("stops", source).wheel())
    command = [sys.executable, "-m", "overeager.cli", "list-plugins", "--check"]
    surroundings = environment(site, home=tmp_path, OVEREAGER_IMPORT_SECONDS="600")
    asking = subprocess.Popen(command, env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (note.exists() and note.read_text()):
        assert asking.poll() is None
        time.sleep(0.01)
    importing = int(note.read_text())
    assert is_alive(importing)
    asking.send_signal(signal.SIGINT)
    assert asking.wait(60) == 130
    assert wait_until_dead([importing]) == []


def test_the_environment_blocks_plugins(site: Path, home: Path) -> None:
    code = "from overeager.loading.rows import *; print({r.name: r.status for r in plugin_rows(False)}['leaves'])"
    for variables in ({"OVEREAGER_BLOCK_PLUGINS": "x, leaves"}, {"OVEREAGER_ONLY_PLUGINS": "overeager-test-good"}):
        assert run_python(code, site, home=home, **variables).stdout == "blocked\n"


def test_only_a_plugin_leaves_the_cores_own_in_and_block_takes_them_out(site: Path, home: Path) -> None:
    code = "from overeager.loading.rows import *; print(*(r.name for r in plugin_rows(False) if r.status == 'found'))"
    assert run_python(code, site, home=home, OVEREAGER_ONLY_PLUGINS="good").stdout == "scripted core good core\n"
    variables = {"OVEREAGER_ONLY_PLUGINS": "good", "OVEREAGER_BLOCK_PLUGINS": "atoms:core"}
    assert run_python(code, site, home=home, **variables).stdout == "scripted good core\n"


@pytest.mark.parametrize("variable", ["OVEREAGER_ONLY_PLUGINS", "OVEREAGER_BLOCK_PLUGINS"])
def test_a_name_that_is_not_installed_is_an_error(variable: str, site: Path, home: Path) -> None:
    code = "from overeager.loading.registry import *; load_registry()"
    done = run_python(code, site, home=home, **{variable: "goood"})
    assert "PLG002 no installed plugin is named 'goood'" in done.stderr
    assert "did you mean 'good'?" in done.stderr


@pytest.mark.parametrize("seconds", ["soon", "0", "-1", "nan"])
def test_a_limit_that_is_no_number_of_seconds_is_an_error(seconds: str, site: Path, home: Path) -> None:
    done = overeager("list-plugins", "--check", site=site, home=home, OVEREAGER_IMPORT_SECONDS=seconds)
    assert done.returncode == 2
    assert f"PLG010 OVEREAGER_IMPORT_SECONDS is '{seconds}', no number of seconds" in done.stderr


def test_a_damaged_distribution_does_not_hide_the_others(site: Path, home: Path, tmp_path: Path) -> None:
    info = tmp_path / "damaged-1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[overeager.atoms]\ndamaged = damaged\n")
    code = "from overeager.loading.rows import *; print([r for r in plugin_rows(True, only=['damaged'])])"
    done = run_python(code, tmp_path, site, home=home)
    assert "name='damaged', distribution='unknown', version='unknown', status='broken'" in done.stdout, done.stderr
    assert "name='good', distribution='overeager-test-good', version='1.2', status='blocked'" in done.stdout


def test_list_plugins_strict_exits_1_for_a_fault_and_0_without(site: Path, home: Path) -> None:
    assert overeager("list-plugins", "--strict", site=site, home=home).returncode == 1  # a duplicate needs no import
    broken = ("list-plugins", "--check", "--only-plugin", "leaves")
    assert overeager(*broken, "--strict", site=site, home=home).returncode == 1
    assert overeager(*broken, site=site, home=home).returncode == 0
    assert (
        overeager("list-plugins", "--check", "--strict", "--only-plugin", "good", site=site, home=home).returncode == 0
    )


def test_list_plugins_prints_json_of_stated_fields(rows: list[dict[str, Any]]) -> None:
    assert all(set(row) == FIELDS for row in rows)


def test_list_plugins_prints_aligned_lines_without_tabs_in_a_pipe(site: Path, home: Path) -> None:
    lines = overeager("list-plugins", site=site, home=home).stdout.splitlines()
    column = lines[0].index("distribution")
    assert not any("\t" in line or "\x1b" in line for line in lines)
    assert all(line[column - 1] == " " and line[column] != " " for line in lines)


def test_the_cure_of_each_fault_stands_below_the_table_for_people(site: Path, home: Path) -> None:
    done = overeager("list-plugins", "--check", "--only-plugin", "leaves", site=site, home=home)
    assert "PLG003 atoms:leaves of overeager-test-leaves 1.2: mend or remove it" in done.stderr
    assert "pip install --upgrade overeager-test-leaves, or --block-plugin atoms:leaves" in done.stderr


def test_list_plugins_is_readable_on_a_terminal_of_80_columns(site: Path, home: Path) -> None:
    command = [sys.executable, "-m", "overeager.cli", "list-plugins", "--check", "--only-plugin", "leaves"]
    surroundings = environment(site, home=home, COLUMNS="80", TERM="xterm")
    ours, its = pty.openpty()
    with subprocess.Popen(command, env=surroundings, stdout=its, stderr=subprocess.DEVNULL) as asking:
        os.close(its)
        shown = b""
        with suppress(OSError):  # what a terminal says whose other side is closed
            while data := os.read(ours, 1 << 16):
                shown += data
    assert asking.returncode == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).splitlines()
    assert all(len(line) <= 80 for line in lines if "│" in line)
    at = lines.index("atoms:leaves is broken: fails at import with SystemExit: 3")
    assert lines[at + 1].startswith("  PLG003 mend or remove it")


VENDOR = """
from overeager import Mode, Package, Release, Vendor

def release(version, platform):
    package = Package("@nobody/tool", version, "sha512-x")
    return Release(version, platform, (package,), "node_modules/tool", "0" * 64, 1)

PINS = Vendor("Tool", "none", tuple(
    release(version, platform) for version in ("1.0.0", "2.0.0", "3.0.0")
    for platform in ("linux-x86_64", "linux-aarch64", "linux-x86_64-musl", "darwin-arm64")
))
"""


def with_cli() -> Wheel:
    plugin = agent("tool", "vendor = None", "vendor = PINS")
    source = VENDOR + str(plugin.source).replace("tested_versions = ()", 'tested_versions = ("1.0.0",)')
    return plugin._replace(source=source).wheel()


def install_tool(cache: Path, version: str) -> None:
    binary = cache / "opt" / f"tool-{version}" / "node_modules" / "tool"
    binary.parent.mkdir(parents=True)
    binary.touch()


def test_an_adapters_row_says_which_cli_is_installed_and_whether_it_was_tested(tmp_path: Path) -> None:
    site, cache = install(tmp_path / "site", with_cli()), tmp_path / "cache"

    def ask(*more: str) -> str:
        arguments = ("list-plugins", "--check", "--only-plugin", "tool", *more)
        return overeager(*arguments, site=site, home=tmp_path, OVEREAGER_CACHE=str(cache)).stdout

    assert "not installed: overeager agents install tool" in ask()
    assert not cache.exists()
    install_tool(cache, "1.0.0")
    install_tool(cache, "3.0.0")
    assert "1.0.0 installed, tested; 3.0.0 installed, not tested" in ask()
    (row,) = [row for row in json.loads(ask("--json")) if row["name"] == "tool"]
    assert row["clis"] == [
        {"version": "1.0.0", "installed": True, "tested": True},
        {"version": "2.0.0", "installed": False, "tested": False},
        {"version": "3.0.0", "installed": True, "tested": False},
    ]


def test_agents_list_tells_a_broken_adapter_beside_the_others(site: Path, home: Path) -> None:
    done = overeager("agents", "list", "--only-plugin", "future", "--only-plugin", "good-agent", site=site, home=home)
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert "built in" in lines["good-agent"]
    assert "API too new" in lines["future"]
    assert "PLG007 future of overeager-test-future 1.2 is written for API 2" in done.stderr
