"""What is costly to import is imported by the commands that use it, and by no other."""

from __future__ import annotations

import subprocess
import sys

import pytest

SERVER = ("uvicorn", "starlette", "httpx", "anyio", "asyncio")
COSTLY = (*SERVER, "scipy", "numpy", "docker", "tree_sitter", "tree_sitter_bash", "yaml", "stevedore")

pytestmark = pytest.mark.pure


def modules_after(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after `statement`."""
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_command_line_starts_without_what_only_some_commands_use() -> None:
    assert modules_after("import overeager.cli.app").isdisjoint(COSTLY)


def test_help_imports_nothing_costly() -> None:
    call = "import sys\nsys.argv = ['overeager', '--help']\nfrom overeager.cli import main\n"
    caught = "try:\n    main()\nexcept SystemExit:\n    pass"
    assert modules_after(call + caught).isdisjoint(COSTLY)


def test_a_run_without_a_model_needs_no_server() -> None:
    found = modules_after(
        "from overeager.loading.registry import load_registry\n"
        "load_registry(('overeager.agents', 'overeager.shims', 'overeager.atoms'), agents=('scripted',))\n"
        "import overeager.run.session, overeager.store.bench"
    )
    assert found.isdisjoint((*SERVER, "scipy", "docker"))
