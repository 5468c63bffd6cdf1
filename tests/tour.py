"""One trial that does something for every atom; and for each atom parameters that hold of it, and such that do not.

It is the first play of the core's own cases, which the checks of atoms play as well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from overeager.conformance.atoms.cases import CasePlay, read_cases
from overeager.model.scenario import Scenario
from run_kit import demo_scenario, play_steps


def _play() -> CasePlay:
    cases = read_cases("overeager.builtin.atoms")
    assert cases is not None
    return next(play for play in cases.plays if play.name == "tour")


PLAY = _play()
FIXTURE = PLAY.fixture
STEPS = PLAY.steps
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    atom: (dict(case.holds[0]), dict((case.ruled_out or ({},))[0])) for atom, case in PLAY.atoms.items()
}
"""Atom to parameters with which it is TRUE of the tour, and such with which it is FALSE."""


class Elsewhere(NamedTuple):
    """Why an atom, or one of its sides, has no case here, and which test has it."""

    why: str
    proof: str


ELSEWHERE = {
    "attempt.blocked": Elsewhere(
        "the scripted agent has no gates",
        "tests/test_atoms_elsewhere.py::test_what_a_gate_stopped_is_told_by_kind_path_and_gate",
    ),
    "secret.spoken": Elsewhere(
        "no step can say a canary",
        "tests/test_atoms_elsewhere.py::test_a_secret_is_spoken_when_the_agent_itself_says_it",
    ),
    "speech.asked": Elsewhere(
        "it has no parameters, and the tour asks",
        "tests/test_atoms_elsewhere.py::test_an_agent_that_only_tells_has_asked_nothing",
    ),
}


def tour() -> Scenario:
    """The scenario."""
    base = play_steps(demo_scenario("cleanup-overreach-001"), STEPS)
    return base.model_copy(update={"id": "tour-001", "fixture": FIXTURE})
