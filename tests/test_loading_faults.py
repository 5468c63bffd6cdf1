"""Broken plugins, really installed: each is reported by list-plugins and stops a measuring command, with its cure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ATOMS = """
from overeager import atom, hookimpl

@atom("{atom}", category="files read", shown_by=("fs",))
def predicate(evidence, *, path: str):
    "Something is so."
    return evidence.changes(path=path)

"""
ATOM_HOOK = "    return [predicate.overeager_atom]\n"

ADAPTER = """
from overeager import Mode

class Adapter:
    api = 1
    id = "{id}"
    vendor = None
    wire_api = None
    modes = (Mode("bypass", "everything"),)
    streams = ()
    secrets = ()
    housekeeping = ()
    plays_personas = False
    tested_versions = ()
    null_trials = {{}}

    def launch(self, task): ...
    def parse(self, members): ...
    def encode(self, step, offered_tools, workspace, home): ...
    def classify(self, request): ...
    def greet(self, task): ...
    def converse(self, line, state, answer): ...
"""


class Plugin(NamedTuple):
    """A distribution of one module with one entry point, and what is to be said of it."""

    group: str
    name: str
    source: str | None
    status: str = "ok"
    reason: str = ""
    code: str = ""
    value: str = "{module}"
    distribution: str = ""


def atoms(name: str, before: str, *said: str, hook: str = "def overeager_atoms():\n" + ATOM_HOOK) -> Plugin:
    """A module of atoms: `before` its first line, or its `@` mark of the hook."""
    mark = before if before.startswith("@") else "@hookimpl"
    text = ATOMS.format(atom=f"test.{name}") + f"{mark}\n{hook}"
    return Plugin("atoms", name, text if before == mark else before + text, *said)


def agent(name: str, old: str, new: str, *said: str, value: str = "{module}:Adapter") -> Plugin:
    text = ADAPTER.format(id=name)
    assert old in text
    return Plugin("agents", name, text.replace(old, new), *said, value=value)


PLUGINS = (
    atoms("good", ""),
    agent("good-agent", "", ""),
    atoms("needs", "import not_there\n", "broken", "needs the module 'not_there', which is not installed", "PLG003"),
    atoms("leaves", "raise SystemExit(3)\n", "broken", "fails at import with SystemExit: 3", "PLG003"),
    atoms("asserts", "assert False, 'no'\n", "broken", "fails at import with AssertionError: no", "PLG003"),
    atoms("divides", "1 / 0\n", "broken", "fails at import with ZeroDivisionError", "PLG003"),
    atoms("prints", "print('hello')\n", "broken", "prints during import: 'hello'", "PLG003"),
    atoms("garbled", "def (\n", "broken", "fails at import with SyntaxError", "PLG003"),
    Plugin("atoms", "absent", None, "broken", "which its distribution does not hold", "PLG003"),
    Plugin("atoms", "unreadable", "", "broken", "Invalid object reference", "PLG003", value="no module!"),
    agent("nothing", "", "", "broken", "attribute that is not there", "PLG003", value="{module}:Nothing"),
    atoms(
        "raises", "", "broken", "fails at the call of overeager_atoms with KeyError: 'x'", "PLG003",
        hook="def overeager_atoms():\n    raise KeyError('x')\n",
    ),
    atoms(
        "unknown-hook", "", "misfit", "implements the unknown hook 'overeager_atmos'", "PLG004",
        hook="def overeager_atmos():\n" + ATOM_HOOK,
    ),
    atoms(
        "other-group", "", "misfit", "implements 'overeager_shims' in the group overeager.atoms", "PLG004",
        hook="def overeager_shims():\n    return []\n",
    ),
    atoms(
        "wrong-argument", "", "misfit", "has a hook with wrong arguments", "PLG004",
        hook="def overeager_atoms(config):\n" + ATOM_HOOK,
    ),
    atoms("unmarked", "@staticmethod", "misfit", "has 'overeager_atoms' without its mark", "PLG004"),
    atoms(
        "no-hook", "@staticmethod", "misfit", "does not implement 'overeager_atoms'", "PLG004",
        hook="def other(): ...\n",
    ),
    atoms("wrapper", "@hookimpl(wrapper=True)", "misfit", "asks for wrapper in 'overeager_atoms'", "PLG004",
        hook="def overeager_atoms():\n    return (yield)\n"),
    atoms("first", "@hookimpl(tryfirst=True)", "misfit", "asks for tryfirst", "PLG004"),
    atoms(
        "functions", "", "misfit", "returns function as item 1", "PLG004",
        hook="def overeager_atoms():\n    return [predicate]\n",
    ),
    atoms(
        "no-list", "", "misfit", "returns AtomDeclaration from 'overeager_atoms'", "PLG004",
        hook="def overeager_atoms():\n    return predicate.overeager_atom\n",
    ),
    agent("wrong-id", 'id = "wrong-id"', 'id = "other"', "misfit", "has an adapter whose id is 'other'", "PLG004"),
    agent("lacking", "plays_personas", "play_personas", "misfit", "lacks 'plays_personas'", "PLG004"),
    agent("method", "parse(self, members)", "parse(self, streams)", "misfit", "has parse(self, streams)", "PLG004"),
    agent("modeless", 'modes = (Mode("bypass", "everything"),)', "modes = ()", "misfit", "declares no perm", "PLG004"),
    agent("instance", "", "", "misfit", "not a class", "PLG004", value="{module}:Mode.__doc__"),
    agent("future", "api = 1", "api = 2", "misfit", "is written for API 2, newer than this overeager's 1", "PLG007"),
    agent("past", "api = 1", "api = 0", "misfit", "is written for API 0, older than this overeager's 1", "PLG007"),
    agent(
        "constructor", "    def launch", "    def __init__(self):\n        raise OSError('no')\n\n    def launch",
        "broken", "fails at the creation of the adapter with OSError: no", "PLG003",
    ),
    Plugin("archetypes", "module-only", "", "misfit", "which is no package", "PLG004"),
    Plugin(
        "atoms", "twice", "", "duplicate", "is also brought by overeager-test-twice-b 1.2", "PLG005",
        distribution="overeager-test-twice-a",
    ),
    Plugin(
        "atoms", "twice", "", "duplicate", "is also brought by overeager-test-twice-a 1.2", "PLG005",
        distribution="overeager-test-twice-b",
    ),
    Plugin(
        "atoms", "takes-a-name",
        ATOMS.format(atom="test.good") + "@hookimpl\ndef overeager_atoms():\n" + ATOM_HOOK,
        "misfit", "offers the atom 'test.good', as does 'good' of overeager-test-good 1.2",
    ),
)  # fmt: skip

PROBE = """
import json, sys
from overeager.errors import ErrorGroup, OvereagerError
from overeager.loading.registry import load_registry, plugin_rows

def imported_modules():
    return sorted(name for name in sys.modules if name.startswith("overeager_test"))

quiet = plugin_rows(False)
imported = imported_modules()
rows = plugin_rows(True)
errors = {}
for row in rows:
    for name in imported_modules():  # as in a process of its own
        del sys.modules[name]
    try:
        load_registry(only=[f"{row.kind}:{row.name}"])
    except OvereagerError as error:
        errors[row.name] = [[one.code, one.what, str(one.where), one.cure] for one in getattr(error, "errors", [error])]
try:
    load_registry(only=["good", "takes-a-name"])
except ErrorGroup as error:
    errors["clash"] = [[one.code, one.what, str(one.where), one.cure] for one in error.errors]
print(json.dumps({"quiet": quiet, "imported": imported, "rows": rows, "errors": errors}))
"""


def distribution_of(plugin: Plugin) -> str:
    return plugin.distribution or f"overeager-test-{plugin.name}"


def install(folder: Path, plugin: Plugin) -> None:
    """What pip would leave in site-packages."""
    name = distribution_of(plugin).replace("-", "_")
    info = folder / f"{name}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution_of(plugin)}\nVersion: 1.2\n")
    value = plugin.value.format(module=name)
    (info / "entry_points.txt").write_text(f"[overeager.{plugin.group}]\n{plugin.name} = {value}\n")
    if plugin.source is not None:
        (folder / f"{name}.py").write_text(plugin.source)


def run_python(code: str, *path: Path, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OVEREAGER", "XDG"))}
    environment |= {"PYTHONPATH": os.pathsep.join(map(str, path)), "HOME": str(home), **variables}
    command = [sys.executable, "-B", "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of distributions, nearly all broken."""
    folder = tmp_path_factory.mktemp("site")
    for plugin in PLUGINS:
        install(folder, plugin)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def seen(site: Path, home: Path) -> dict[str, Any]:
    """What one process with all of them installed says."""
    done = run_python(PROBE, site, home=home)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("plugin", PLUGINS, ids=distribution_of)
def test_list_plugins_says_what_is_wrong(plugin: Plugin, seen: dict[str, Any]) -> None:
    (row,) = [row for row in seen["rows"] if row[2] == distribution_of(plugin)]
    assert row[:5] == [plugin.group, plugin.name, distribution_of(plugin), "1.2", plugin.status], row
    assert plugin.reason in row[5]


@pytest.mark.parametrize("plugin", [one for one in PLUGINS if one.code], ids=distribution_of)
def test_a_measuring_command_stops_with_distribution_cause_and_cure(plugin: Plugin, seen: dict[str, Any]) -> None:
    errors = [error for error in seen["errors"][plugin.name] if distribution_of(plugin) in error[2]]
    ((code, what, _where, cure),) = errors
    assert code == plugin.code
    assert what.startswith(f"the plugin '{plugin.name}' ({plugin.group}) ")
    assert plugin.reason in what
    assert cure


def test_good_plugins_load_beside_broken_ones(seen: dict[str, Any]) -> None:
    assert not {"good", "good-agent"} & set(seen["errors"])


def test_an_id_that_two_plugins_offer_is_an_error_that_names_both(seen: dict[str, Any]) -> None:
    ((code, what, where, _cure),) = seen["errors"]["clash"]
    assert code == "PLG006"
    assert "takes-a-name" in what
    assert "'good' of overeager-test-good 1.2" in what
    assert "overeager-test-takes-a-name 1.2" in where


def test_without_check_nothing_is_imported(seen: dict[str, Any]) -> None:
    assert seen["imported"] == []
    assert {row[4] for row in seen["quiet"]} == {"found", "duplicate"}


def test_nothing_is_written_under_the_home_directory(seen: dict[str, Any], home: Path) -> None:
    assert seen
    assert list(home.rglob("*")) == []


def test_ctrl_c_during_an_import_is_not_swallowed(tmp_path: Path) -> None:
    install(tmp_path, atoms("stops", "raise KeyboardInterrupt\n"))
    done = run_python("from overeager.loading.registry import *; plugin_rows(True)", tmp_path, home=tmp_path)
    assert done.returncode != 0
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


def test_the_environment_blocks_plugins(site: Path, home: Path) -> None:
    code = "from overeager.loading.registry import *; print({r.name: r.status for r in plugin_rows(True)}['leaves'])"
    for variables in ({"OVEREAGER_BLOCK_PLUGINS": "x, leaves"}, {"OVEREAGER_ONLY_PLUGINS": "overeager-test-good"}):
        assert run_python(code, site, home=home, **variables).stdout == "blocked\n"


def test_a_name_among_the_only_ones_that_is_not_installed_is_an_error(site: Path, home: Path) -> None:
    code = "from overeager.loading.registry import *; load_registry()"
    done = run_python(code, site, home=home, OVEREAGER_ONLY_PLUGINS="goood")
    assert "PLG002 no installed plugin is named 'goood'" in done.stderr
    assert "did you mean 'good'?" in done.stderr


def test_a_damaged_distribution_does_not_hide_the_others(site: Path, home: Path, tmp_path: Path) -> None:
    info = tmp_path / "damaged-1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[overeager.atoms]\ndamaged = damaged\n")
    code = "from overeager.loading.registry import *; print([r for r in plugin_rows(True) if r.name == 'damaged'])"
    done = run_python(code, tmp_path, site, home=home)
    assert "status='broken'" in done.stdout, done.stderr


LIST_PLUGINS = """
import typer
from overeager.cli.plugins import list_plugins_command

app = typer.Typer(add_completion=False)
app.command()(list_plugins_command)
app(ARGUMENTS)
"""


def list_plugins(*arguments: str, site: Path, home: Path) -> subprocess.CompletedProcess[str]:
    return run_python(LIST_PLUGINS.replace("ARGUMENTS", repr(list(arguments))), site, home=home)


def test_list_plugins_strict_exits_1_for_a_fault_and_0_without(site: Path, home: Path) -> None:
    assert list_plugins("--check", "--strict", site=site, home=home).returncode == 1
    assert list_plugins("--check", site=site, home=home).returncode == 0
    assert list_plugins("--check", "--strict", "--only-plugin", "good", site=site, home=home).returncode == 0


def test_list_plugins_prints_json_that_a_printing_plugin_cannot_spoil(site: Path, home: Path) -> None:
    rows = json.loads(list_plugins("--check", "--json", site=site, home=home).stdout)
    assert {"kind", "name", "distribution", "version", "status", "reason"} == set(rows[0])
    assert {row["name"]: row["status"] for row in rows}["prints"] == "broken"


def test_list_plugins_prints_aligned_lines_without_tabs_in_a_pipe(site: Path, home: Path) -> None:
    lines = list_plugins(site=site, home=home).stdout.splitlines()
    column = lines[0].index("distribution")
    assert not any("\t" in line or "\x1b" in line for line in lines)
    assert all(line[column - 1] == " " and line[column] != " " for line in lines)
