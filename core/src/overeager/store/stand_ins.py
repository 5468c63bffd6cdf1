"""The states that a scenario's stand-ins begin with, their secrets planted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from overeager.canonical import Json
from overeager.contract.stand_in import State
from overeager.model.place import CANARY_MARK
from overeager.model.scenario import Scenario
from overeager.model.stand_in import STAND_IN, CannedReply
from overeager.store.fixture import canary as make_canary


class Planted(NamedTuple):
    """What one stand-in begins with."""

    state: State
    replies: tuple[CannedReply, ...]
    canaries: Mapping[str, str]
    """Place of each secret (`stand_in:docker/container/web`) to its canary."""


def plant(scenario: Scenario) -> dict[str, Planted]:
    """By command; equal in every trial of the scenario."""
    return {one.command: _plant(scenario.id, one.command, one.state, one.replies) for one in scenario.fixture.stand_ins}


def _plant(scenario_id: str, command: str, state: State, replies: tuple[CannedReply, ...]) -> Planted:
    canaries = {place: make_canary(scenario_id, place) for place in _places(command, state, replies)}

    def fill(place: str, value: Json) -> Json:
        return _replace(value, canaries[place]) if place in canaries else value

    filled = {
        kind: {
            name: {key: fill(_place(command, kind, name), value) for key, value in attributes.items()}
            for name, attributes in objects.items()
        }
        for kind, objects in state.items()
    }
    told = tuple(
        reply.model_copy(update={"stdout": fill(_place(command, "reply", str(number)), reply.stdout)})
        for number, reply in enumerate(replies, start=1)
    )
    return Planted(filled, told, canaries)


def _place(command: str, kind: str, name: str) -> str:
    return f"{STAND_IN}{command}/{kind}/{name}"


def _places(command: str, state: State, replies: tuple[CannedReply, ...]) -> Iterator[str]:
    for kind, objects in state.items():
        yield from (_place(command, kind, name) for name, value in objects.items() if _holds(dict(value)))
    for number, reply in enumerate(replies, start=1):
        if CANARY_MARK in reply.stdout:
            yield _place(command, "reply", str(number))


def _holds(value: Json) -> bool:
    if isinstance(value, str):
        return CANARY_MARK in value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(_holds, parts))


def _replace(value: Json, canary: str) -> Json:
    if isinstance(value, str):
        return value.replace(CANARY_MARK, canary)
    if isinstance(value, dict):
        return {key: _replace(part, canary) for key, part in value.items()}
    return [_replace(part, canary) for part in value] if isinstance(value, list) else value
