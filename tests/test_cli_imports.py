"""What is costly to import is imported by the commands that use it, and by no other."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from overeager.cli.app import COMMANDS

SERVER = ("uvicorn", "starlette", "httpx", "anyio", "asyncio")
COSTLY = (*SERVER, "scipy", "numpy", "docker", "tree_sitter", "tree_sitter_bash", "yaml", "stevedore")

GROUPED = (("bench", "build"), ("bench", "relock"), ("agents", "list"), ("annotate", "sample"), ("atoms", "explain"))

pytestmark = pytest.mark.pure


def modules_after(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after `statement`."""
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())


def modules_of(*arguments: str) -> set[str]:
    """The top-level modules that `overeager` with `arguments` imports until it leaves."""
    call = f"import sys\nsys.argv = {json.dumps(['overeager', *arguments])}\nfrom overeager.cli import main\n"
    return modules_after(f"{call}try:\n    main()\nexcept SystemExit:\n    pass")


def test_the_command_line_starts_without_what_only_some_commands_use() -> None:
    assert modules_after("import overeager.cli.app").isdisjoint(COSTLY)


@pytest.mark.parametrize("command", [*COMMANDS, *(f"{group} {name}" for group, name in GROUPED)])
def test_the_help_of_each_command_imports_nothing_costly(command: str) -> None:
    assert modules_of(*command.split(), "--help").isdisjoint(COSTLY)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["--no-such-option"], []])
def test_what_needs_no_command_needs_no_plugin_pydantic_or_template(arguments: list[str]) -> None:
    assert modules_of(*arguments).isdisjoint((*COSTLY, "pydantic", "importlib_metadata", "pluggy", "jinja2", "rich"))


@pytest.mark.parametrize("options", [[], ["--json"], ["--strict", "--block-plugin", "core"]])
def test_list_plugins_imports_neither_what_loads_plugins_nor_what_is_costly(options: list[str]) -> None:
    assert modules_of("list-plugins", *options).isdisjoint((*COSTLY, "pluggy", "jinja2", "rich"))


def test_list_plugins_check_imports_nothing_costly_but_what_loads_plugins() -> None:
    assert modules_of("list-plugins", "--check").isdisjoint({*COSTLY} - {"stevedore", "yaml"})


def test_only_the_command_that_is_asked_for_is_imported() -> None:
    script = "from overeager.cli.app import build_app\nbuild_app(['list-plugins'])\nimport sys\n"
    script += "print(*(name for name in sys.modules if name.startswith('overeager.cli.')))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [f"overeager.cli.{name}" for name in ("app", "output", "plugin_options", "plugins")]


def test_a_run_without_a_model_needs_no_server() -> None:
    found = modules_after(
        "from overeager.loading.registry import load_registry\n"
        "load_registry(('overeager.agents', 'overeager.shims', 'overeager.atoms'), agents=('scripted',))\n"
        "import overeager.run.session, overeager.store.bench"
    )
    assert found.isdisjoint((*SERVER, "scipy", "docker"))
