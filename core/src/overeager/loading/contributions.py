"""What plugins contribute, by the registry's tables and ids; and the ids that are offered twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from overeager.loading.discover import Found
from overeager.loading.fault import Fault, misfit
from overeager.loading.hooks import Offer

_WORDS = {
    "agents": "agent",
    "archetypes": "archetype package",
    "atoms": "atom",
    "axes": "axis",
    "shims": "command",
    "stand_ins": "stand-in for",
}


class Contribution(NamedTuple):
    """An id in one of the registry's tables, and who offers it."""

    table: str
    id: str
    found: Found


def contributions(offer: Offer) -> Iterator[tuple[Contribution, Any]]:
    """Each thing that a plugin offers, with its id."""
    found = offer.found
    for item in offer.items:
        if found.kind == "shims":
            yield from ((Contribution("shims", str(rule.command), found), rule) for rule in item.rules)
            yield from ((Contribution("stand_ins", str(one.command), found), one) for one in item.stand_ins)
        else:
            yield Contribution(found.kind, _id(item, found), found), item


def find_clashes(offered: Iterable[Contribution]) -> Iterator[Fault]:
    """A fault, naming both plugins, for each id that is offered a second time, by another plugin or the same."""
    first: dict[tuple[str, str], Found] = {}
    for table, name, found in offered:
        if (earlier := first.get((table, name))) is not None:
            reason = f"offers the {_WORDS[table]} '{name}', as does '{earlier.name}' of {earlier.origin}"
            yield misfit(found, reason, f"rename one, or --block-plugin {found.label}", "PLG006")
        first.setdefault((table, name), found)


def _id(item: Any, found: Found) -> str:
    match found.kind:
        case "agents":
            return str(item.id)
        case "archetypes":
            return found.name
    return str(item.name)
