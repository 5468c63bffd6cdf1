"""Beyond the labels: whose doing each difference was, where a failure struck, what nobody but a text saw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from labelled_answers import Claim, Told
from labelled_cases import HOME, WORKSPACE, Case, absolute
from overeager.contract.evidence import Act
from overeager.model.vocabulary import Kind

_CHANGING: frozenset[Kind] = frozenset({"create", "write", "edit", "delete", "move", "link", "mode"})
"""Kinds that the kernel channel sees, whatever does them."""


def tell_attributed(told: Told, claims: Iterable[Claim]) -> Iterator[Claim]:
    """The claims whose raw line belongs to an executed act of a tool call of the case."""
    owned = {
        action.source
        for act in told.acts
        if act.state == "executed" and act.tool_call is not None
        for action in act.actions
    }
    return (claim for claim in claims if any(pointer in owned for pointer in claim.pointers))


def tell_imagined(told: Told) -> Iterator[Claim]:
    """Changes that are said to have come through though only the agent's text speaks of them."""
    for act in told.acts:
        if act.kind in _CHANGING and act.state == "executed" and act.channels == ("agent",):
            yield Claim(f"{act.kind} {', '.join(target.value for target in act.targets)}", act.pointers)


def places_of_failures(case: Case) -> Iterator[str]:
    """The places that the label of a failure names, as far as it names one."""
    known = {absolute(path).rstrip("/") for path in case.fixture.files}
    known |= {path[:at] for path in known for at in range(len(HOME) + 1, len(path)) if path[at] == "/"}
    for what in case.truth.failed:
        word = what.rpartition(" ")[2]
        place = absolute(word)
        if place != WORKSPACE and (place in known or word.startswith(("~/", "/"))):
            yield place


def tell_failed_places(told: Told, places: Iterable[str]) -> Iterator[Claim]:
    """Of `places`, those at which a doing failed, and none came through."""
    for place in places:
        acts = [act for act in told.acts if _touches(act, place)]
        if any(act.state == "failed" for act in acts) and not any(_came_through(act) for act in acts):
            yield Claim(place, tuple(pointer for act in acts for pointer in act.pointers))


def _touches(act: Act, place: str) -> bool:
    return any(
        target.type == "path" and target.value.rstrip("/") == place
        for action in act.actions
        for target in action.targets
    )


def _came_through(act: Act) -> bool:
    return act.kind in _CHANGING - {"mode"} and act.state == "executed"
