"""Who may import whom (DESIGN §4): import-linter's contracts, that they bite, and what import-linter cannot say."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE = ROOT / "core" / "src" / "overeager"
LINT_IMPORTS = Path(sysconfig.get_path("scripts")) / "lint-imports"
PLUGIN_FILES = sorted(ROOT.glob("plugins/*/src/**/*.py"))
PLUGIN_TESTS = sorted(ROOT.glob("plugins/*/tests/**/*.py"))

VIOLATIONS = [
    ("layers", "audit/probe_layers.py", "import overeager.gateway"),
    ("layers", "store/probe_layers.py", "from overeager import run"),
    ("layers", "model/probe_layers.py", "from overeager.contract import agent"),
    ("layers", "newcomer.py", ""),
    ("audit-rooms", "audit/kernel/probe_layers.py", "import overeager.audit.shim"),
    ("audit-rooms", "audit/snapshots/probe_layers.py", "from overeager.audit.state import line"),
    ("audit-rooms", "audit/newcomer.py", ""),
    ("nobody-imports-builtin", "run/probe_layers.py", "import overeager.builtin.atoms"),
    ("builtin-is-a-plugin", "builtin/probe_layers.py", "import overeager.store"),
    ("pure", "judge/probe_layers.py", "import os"),
    ("pure", "actions/probe_layers.py", "from time import monotonic"),
    ("pure", "model/probe_layers.py", "import subprocess"),
    ("pluggy", "run/probe_layers.py", "import pluggy"),
    ("stevedore", "loading/probe_layers.py", "from stevedore import named"),
    ("importlib-metadata", "store/probe_layers.py", "import importlib_metadata"),
    ("scipy", "report/probe_layers.py", "import scipy.stats"),
    ("typer", "report/probe_layers.py", "import typer"),
    ("rich", "run/probe_layers.py", "import rich.table"),
    ("docker", "sandbox/probe_layers.py", "import docker"),
]


def lint(folder: Path, source: Path) -> subprocess.CompletedProcess[str]:
    command = [str(LINT_IMPORTS), "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    environment = {"PYTHONPATH": str(source), "PATH": str(Path(sys.executable).parent), "PYTHONUTF8": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def contract_name(contract: str) -> str:
    lines = (ROOT / "pyproject.toml").read_text().split("\n")
    return lines[lines.index(f'id = "{contract}"') + 1].removeprefix('name = "').removesuffix('"')


def test_the_layer_contracts_are_kept() -> None:
    done = lint(ROOT, CORE.parent)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("contract", "module", "line"), VIOLATIONS, ids=[f"{c}-{m}" for c, m, _ in VIOLATIONS])
def test_a_forbidden_import_breaks_its_contract(tmp_path: Path, contract: str, module: str, line: str) -> None:
    shutil.copytree(CORE, tmp_path / "overeager", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "overeager" / module).write_text(f"{line}\n")
    done = lint(tmp_path, tmp_path)
    broken = [said for said in done.stdout.replace("\n", " ").split("KEPT") if "BROKEN" in said]
    assert done.returncode == 1, done.stdout + done.stderr
    assert any(contract_name(contract) in said for said in broken), done.stdout


def imports_of(path: Path) -> Iterator[tuple[str, int]]:
    """Every module that a file imports, wherever in it, with the line."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module), node.lineno


def names_from_top(path: Path) -> Iterator[str]:
    """What a file takes from the top level of overeager."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.ImportFrom) and node.module == "overeager":
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", PLUGIN_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_plugin_imports_only_the_top_level_of_overeager(path: Path) -> None:
    import overeager

    for module, line in imports_of(path):
        assert not module.startswith("overeager."), f"{path}:{line} imports {module}"
    assert set(names_from_top(path)) <= set(overeager.__all__)


@pytest.mark.parametrize("path", PLUGIN_TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_tests_of_a_plugin_import_only_overeager_and_its_testing(path: Path) -> None:
    for module, line in imports_of(path):
        allowed = module == "overeager.testing" or module.startswith("overeager.testing.")
        assert allowed or not module.startswith("overeager."), f"{path}:{line} imports {module}"


@pytest.mark.parametrize("path", PLUGIN_FILES + PLUGIN_TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_plugin_imports_another(path: Path) -> None:
    plugin = ROOT / Path(*path.relative_to(ROOT).parts[:2])
    own = {folder.name for folder in (plugin / "src").iterdir()}
    for module, line in imports_of(path):
        top = module.partition(".")[0]
        assert not top.startswith("overeager_") or top in own, f"{path}:{line} imports {module}"


def test_core_imports_no_plugin() -> None:
    for path in sorted(CORE.rglob("*.py")):
        for module, line in imports_of(path):
            assert not module.startswith("overeager_"), f"{path}:{line} imports {module}"


def test_entry_points_are_read_in_one_file_only() -> None:
    """pluggy's own loading stops at one broken plugin and drops the second of one name silently."""
    for path in sorted(set(CORE.rglob("*.py")) - {CORE / "loading" / "discover.py"}):
        for node in ast.walk(ast.parse(path.read_text(), str(path))):
            name = getattr(node, "attr", getattr(node, "name", None))
            assert name not in ("entry_points", "iter_entry_points", "load_setuptools_entrypoints"), path
