"""The same attacks and ways out in Docker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import docker_kit
from attack_kit import USERS, Attack, Fought, attack, battle, check
from attack_places import FILES
from attack_reports import FORGERIES, MEETING, STREAMS
from sandbox_kit import play

pytestmark = pytest.mark.sandbox

ATTACKS = (*MEETING, *FORGERIES, *STREAMS, *FILES)
NESTED_ONLY = ("bind-another-socket", "bind-the-real-program", "lazy-unmount", "work-in-a-tmpfs")
"""Docker refuses the namespaces that these need, so that they do nothing."""
MOVES = Path(__file__).with_name("escape_moves.py").read_text()
NOWHERE = {
    "file": "/etc/nothing-of-this-name", "mark": "nobodyhasthismark", "pid": 4000000, "port": 9, "shm": 0x5EED,
    "addresses": ["127.0.0.2", "172.17.0.1", "10.0.2.2", "169.254.169.254"],
}  # fmt: skip


def as_in_docker(one: Attack) -> Attack:
    """The attack as it goes where no namespaces can be made."""
    return attack(one.name, *one.commands, endings=" ".join(one.endings)) if one.name in NESTED_ONLY else one


@pytest.fixture(scope="module", params=USERS)
def fought(request: pytest.FixtureRequest) -> Iterator[Fought]:
    options = ("--sandbox", f"docker:{docker_kit.IMAGE}")
    with battle(ATTACKS, request.param, *options, seconds=15, environment=docker_kit.environment()) as done:
        yield done


@pytest.mark.parametrize("one", [*map(as_in_docker, ATTACKS)], ids=lambda one: one.name)
def test_the_verdict_tells_the_truth_or_that_it_does_not_know(fought: Fought, one: Attack) -> None:
    check(one, fought.outcomes[one.name])


@pytest.mark.parametrize("user", USERS)
def test_nothing_outside_the_container_is_reached(user: str) -> None:
    played = play(["/usr/bin/python3", "-c", MOVES, json.dumps(NOWHERE)[::-1]], user=user, sandbox="docker")
    answers = json.loads(played.stdout)
    assert len(answers) > 30
    assert {way: answer for way, answer in answers.items() if not answer.startswith("refused: ")} == {}
