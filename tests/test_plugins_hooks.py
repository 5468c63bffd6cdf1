"""Each door: what stands in its spec, and what comes through it; group and hook spell the same word."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

import overeager
from overeager import AtomParameter, Scenario, agentkit, atom
from overeager.contract import door, hooks
from overeager.contract.hooks import AxisDeclaration
from overeager.errors import ErrorGroup
from overeager.loading.discover import GROUPS
from overeager.loading.hooks import HOOKS
from overeager.loading.registry import load_registry
from overeager.model.yaml_source import load_record, read_yaml
from overeager.store.conditions import check_conditions
from plugin_kit import run_python
from run_kit import demo_scenario
from wheel_kit import Wheel, install

SAID = ("*Called* once a process", "*Order*:", "*Arguments*: none", "*May return*", "*Raising*", "Since API 1.")
SCENARIO = (Path(__file__).parent / "bad_input" / "valid-scenario.yaml").read_text()


@pytest.mark.parametrize("group", GROUPS)
def test_a_hook_spec_tells_an_outsider_everything(group: str) -> None:
    kind = group.partition(".")[2]
    text = inspect.getdoc(getattr(hooks, HOOKS[group])) or ""
    assert [said for said in SAID if said not in " ".join(text.split())] == []
    assert f"docs/extending/{kind}.md" in text
    assert f"`{group}`" in text


def test_group_and_hook_spell_the_same_word() -> None:
    specs = {name for name, value in vars(hooks).items() if name.startswith("overeager_") and inspect.isfunction(value)}
    assert specs == set(HOOKS.values())
    assert {f"overeager_{group.partition('.')[2]}" for group in GROUPS} == specs


def test_the_door_hands_out_every_name_of_its_list_and_no_other() -> None:
    assert sorted(door.__all__) == list(door.__all__)
    assert sorted((*door.__all__, *agentkit.__all__)) == overeager.__all__
    assert all(getattr(overeager, name) is getattr(room, name) for room in (door, agentkit) for name in room.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        overeager.nothing  # type: ignore[attr-defined]  # noqa: B018 - that is the test


def test_importing_overeager_imports_nothing_of_it() -> None:
    code = "import sys, overeager; print([name for name in sys.modules if name.startswith('overeager.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


MODULES = {
    "overeager_agents": """
from overeager import Mode

class Mine:
    api, id, vendor, wire_api = 1, "mine", None, None
    modes = (Mode("bypass", "everything"),)
    streams = secrets = housekeeping = tested_versions = ()
    plays_personas, null_trials = False, {}
    def launch(self, task): ...
    def parse(self, members): ...
    def encode(self, step, offered_tools, workspace, home): ...
    def classify(self, request): ...
    def greet(self, task): ...
    def converse(self, line, state, answer): ...
""",
    "overeager_archetypes": "api = 1\n",
    "overeager_atoms": """
from overeager import atom, hookimpl

api = 1

@atom("mine.moved", category="files changed", shown_by=("fs",))
def moved(evidence, *, path: str, at_least: int = 1):
    "Something moved."
    return evidence.changes(path=path)

@hookimpl
def overeager_atoms():
    return [moved.overeager_atom]
""",
    "overeager_axes": """
from overeager import AxisDeclaration, hookimpl

api = 1

def shout(scenario, level, random):
    if level == "calm":
        return scenario
    prompt = scenario.prompt.model_copy(update={"text": scenario.prompt.text.upper()})
    return scenario.model_copy(update={"prompt": prompt})

@hookimpl
def overeager_axes():
    return [AxisDeclaration("loudness", ("calm", "loud"), "calm", ("prompt.text",), shout)]
""",
    "overeager_shims": """
from overeager import Reading, ShimRule, ShimSet, Target, hookimpl

api = 1

def read(argv, cwd):
    return tuple(Reading("delete", (Target(type="path", value=one),)) for one in argv[1:])

@hookimpl
def overeager_shims():
    return [ShimSet("mine", (ShimRule("mydel", read),))]
""",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plugin of each kind, all named `mine`."""
    wheels = []
    for hook, source in MODULES.items():
        kind = hook.removeprefix("overeager_")
        module = f"overeager_{kind}_mine"
        value = f"{module}:Mine" if kind == "agents" else module
        files = {f"{module}/__init__.py": source}
        wheels.append(Wheel(f"overeager-{kind}-mine", files, {f"overeager.{kind}": {"mine": value}}))
    return install(tmp_path_factory.mktemp("doors") / "site", *wheels)


def ask(expression: str, site: Path) -> str:
    code = f"from overeager.loading.registry import load_registry\nregistry = load_registry()\nprint({expression})"
    done = run_python(code, site, home=site)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_overeager_agents_brings_an_adapter(site: Path) -> None:
    assert ask("registry.agent('mine').modes[0].id", site) == "bypass"
    assert ask("registry.agents['mine'][1].distribution", site) == "overeager-agents-mine"


def test_overeager_archetypes_brings_a_package(site: Path) -> None:
    assert ask("registry.archetypes['mine'][0].package", site) == "overeager_archetypes_mine"


def test_overeager_atoms_brings_a_typed_predicate(site: Path) -> None:
    assert ask("*registry.atoms['mine.moved'][0].parameters", site) == "path: str at_least: int = 1"


def test_overeager_axes_brings_a_mutation(site: Path) -> None:
    assert ask("registry.axes['loudness'][0].dimension", site) == "('prompt.text',)"


def test_overeager_shims_brings_a_rule(site: Path) -> None:
    read = "registry.shims['mydel'][0].read(('mydel', '/a'), '/')[0]"
    assert ask(f"{read}.kind, {read}.targets[0].value", site) == "delete /a"


def test_an_axis_mutates_a_scenario_record() -> None:
    def shout(scenario: Scenario, level: str, random: Random) -> Scenario:
        text = scenario.prompt.text.upper() if level == "loud" else scenario.prompt.text
        return scenario.model_copy(update={"prompt": scenario.prompt.model_copy(update={"text": text})})

    axis = AxisDeclaration("loudness", ("calm", "loud"), "calm", ("prompt.text",), shout)
    scenario = demo_scenario("cleanup-overreach-001")
    assert axis.mutate(scenario, axis.neutral, Random(1)).canonical() == scenario.canonical()
    assert axis.mutate(scenario, "loud", Random(1)).prompt.text.isupper()


def declared(predicate: Any) -> tuple[AtomParameter, ...]:
    marked = atom("test.typed", category="files read", shown_by=("fs",))(predicate)
    parameters: tuple[AtomParameter, ...] = marked.overeager_atom.parameters
    return parameters


def test_an_atom_reads_its_parameters_from_the_signature() -> None:
    def predicate(evidence: Any, *, path: str, names: tuple[str, ...] = (), most: int | None = None) -> list[Any]:
        return []

    assert declared(predicate) == (
        AtomParameter("path", "str", True),
        AtomParameter("names", "tuple[str, ...]", False, ()),
        AtomParameter("most", "int", False, None),
    )
    assert [str(one) for one in declared(predicate)] == [
        "path: str",
        "names: tuple[str, ...] = ()",
        "most: int | None = None",
    ]


def test_it_reads_evaluated_annotations_as_well() -> None:
    space: dict[str, Any] = {}
    exec("def predicate(evidence, *, path: str, most: int | None = None): ...", space)
    assert declared(space["predicate"]) == (AtomParameter("path", "str", True), AtomParameter("most", "int", False))


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        ("evidence, path: str", "parameter 'path' is not keyword-only"),
        ("evidence, *, path", "parameter 'path' has no type"),
        ("evidence, *, path: dict", "parameter 'path' is a dict; write one of str, int"),
        ("evidence, *, path: str | None", "parameter 'path' is optional, so its default is None"),
        ("evidence, **paths: str", "parameter 'paths' is not keyword-only"),
        ("*, evidence", "the predicate's first parameter is the evidence"),
        ("", "the predicate's first parameter is the evidence"),
    ],
)
def test_a_signature_that_no_condition_could_fill_is_refused(signature: str, said: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def predicate({signature}): ...", space)
    with pytest.raises(ValueError, match=f"atom 'test.typed': {said.replace('|', '.')}"):
        declared(space["predicate"])


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("{names: [a, b]}", None),
        ("{names: a}", "SCN113"),
        ("{names: [a], flag: true, share: 1, count: 2}", None),
        ("{names: [a], count: true}", "SCN113"),
        ("{names: [a], flag: 1}", "SCN113"),
        ("{names: [a], share: x}", "SCN113"),
        ("{count: 1}", "SCN112"),
        ("{names: [a], nmaes: [b]}", "SCN111"),
    ],
)
def test_a_condition_is_checked_against_the_types_with_file_and_line(given: str, code: str | None) -> None:
    def predicate(
        evidence: Any, *, names: tuple[str, ...], count: int = 1, flag: bool = False, share: float = 0.5
    ) -> list[Any]:
        return []

    marked: Any = atom("test.typed", category="files read", shown_by=("fs",))(predicate)
    atoms: Mapping[str, Any] = {**{name: one for name, (one, _) in load_registry().atoms.items()}}
    text = SCENARIO.replace("fs.deleted: {path: scratch.tmp}", f"test.typed: {given}")
    assert text != SCENARIO
    scenario = load_record(Scenario, text, "s.yaml")
    lines = read_yaml(text, "s.yaml").lines
    atoms = {**atoms, "test.typed": marked.overeager_atom}
    if code is None:
        check_conditions(scenario, atoms, "s.yaml", lines)
        return
    with pytest.raises(ErrorGroup) as raised:
        check_conditions(scenario, atoms, "s.yaml", lines)
    assert [error.code for error in raised.value.errors] == [code]
    assert str(raised.value.errors[0].where).startswith("s.yaml:")
