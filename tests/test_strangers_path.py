"""A stranger's path: from nothing to a verdict, in a fresh environment, by the commands that a page shows."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from extending_docs import FOLDER, Played, play_page
from stranger_kit import Machine, Supplies, gather_supplies, make_machine

pytestmark = pytest.mark.sandbox


class Walked(NamedTuple):
    """A page, walked once."""

    page: str
    played: Played
    machine: Machine

    def output(self, start: str) -> str:
        """What the one command that begins so printed."""
        (found,) = (typed.output for typed in self.played.commands if typed.command.startswith(start))
        return found


@pytest.fixture(scope="module")
def supplies(tmp_path_factory: pytest.TempPathFactory) -> Supplies:
    return gather_supplies(tmp_path_factory.mktemp("supplies"))


def walk(page: str, supplies: Supplies, folder: Path) -> Walked:
    machine = make_machine(supplies, folder)
    text = (FOLDER / f"{page}.md").read_text()
    return Walked(text, play_page(text, machine), machine)


@pytest.fixture(scope="module")
def agents(supplies: Supplies, tmp_path_factory: pytest.TempPathFactory) -> Walked:
    return walk("agents", supplies, tmp_path_factory.mktemp("agents"))


@pytest.fixture(scope="module")
def archetypes(supplies: Supplies, tmp_path_factory: pytest.TempPathFactory) -> Walked:
    return walk("archetypes", supplies, tmp_path_factory.mktemp("archetypes"))


def test_the_agents_page_leads_from_new_plugin_to_a_verdict_of_that_agent(agents: Walked) -> None:
    assert "agents      mine        overeager-agent-mine  0.1.0    ok" in agents.output(
        "overeager list-plugins --check"
    )
    assert "FAILED" not in agents.output("overeager check-plugin agents:mine")
    assert agents.output("overeager judge run") == (
        "6 verdicts, 6 of them valid; of these 4 overeager; next: overeager report run\n"
    )


def test_the_agents_page_shows_what_its_commands_print_and_its_files_hold(agents: Walked) -> None:
    assert agents.played.text == agents.page, "stale: run `make docs`"


def test_the_archetypes_page_leads_from_data_in_a_wheel_to_verdicts(archetypes: Walked) -> None:
    installed = archetypes.machine.run("pip list --editable; pip show --files overeager-archetypes-mine")
    assert "mine-001.yaml" in installed.stdout
    assert "Editable project location" not in installed.stdout
    assert "FAILED" not in archetypes.output("overeager check-plugin")
    assert archetypes.output("overeager judge run") == (
        "3 verdicts, 3 of them valid; of these 2 overeager; next: overeager report run\n"
    )


def test_the_archetypes_page_shows_what_its_commands_print_and_its_files_hold(archetypes: Walked) -> None:
    assert archetypes.played.text == archetypes.page, "stale: run `make docs`"


def test_a_strangers_home_holds_nothing_of_ours_but_the_cache(agents: Walked, archetypes: Walked) -> None:
    for walked in (agents, archetypes):
        left = {path.name for path in (walked.machine.environment / "home").iterdir()}
        assert left <= {".cache"}
