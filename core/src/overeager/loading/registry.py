"""Fills the registry: hard for commands that measure, soft for those that only look."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from overeager.contract.registry import Origin, Registry
from overeager.errors import ErrorGroup, OvereagerError, near_miss
from overeager.loading.content import hash_module
from overeager.loading.discover import GROUPS, Found, find_duplicates, scan, sort_found
from overeager.loading.fault import Fault, Status, duplicate, misfit
from overeager.loading.hooks import Offer, call_plugin
from overeager.loading.manager import load_plugins
from overeager.loading.selection import BLOCK, ONLY, Selection, check_selection, read_selection


class PluginRow(NamedTuple):
    """A line of `list-plugins`."""

    kind: str
    name: str
    distribution: str
    version: str
    status: Status
    reason: str


class _Loaded(NamedTuple):
    offers: tuple[Offer, ...]
    faults: tuple[Fault, ...]


def load_registry(
    groups: Iterable[str] = GROUPS,
    *,
    only: Iterable[str] | None = None,
    block: Iterable[str] | None = None,
    agents: Collection[str] | None = None,
    hard: bool = True,
    found: Collection[Found] | None = None,
) -> Registry:
    """Everything that the allowed plugins of `groups` offer, whatever the order of the entry points.

    `only` and `block` name plugins, beside OVEREAGER_ONLY_PLUGINS and OVEREAGER_BLOCK_PLUGINS; `agents` limits
    which adapters are imported, None = all. `hard`: raises PLG001 for one of `agents` that nothing offers, and an
    ErrorGroup of PLG002 to PLG008 when an allowed plugin is broken, does not fit, or stands twice; else it is left
    out. Two plugins that offer one id are an error (PLG006) in either mode.
    """
    selection = read_selection(os.environ, only, block)
    everything = sort_found(scan() if found is None else found)
    if hard:
        check_selection(selection, everything)
        _check_agents(agents or (), everything, selection)
    wanted = [one for one in everything if one.group in set(groups) and _is_wanted(one, selection, agents)]
    loaded = _load(wanted)
    if hard and loaded.faults:
        raise ErrorGroup(fault.error() for fault in loaded.faults)
    return _fill(loaded.offers)


def plugin_rows(
    check: bool,
    *,
    only: Iterable[str] | None = None,
    block: Iterable[str] | None = None,
    found: Collection[Found] | None = None,
) -> tuple[PluginRow, ...]:
    """One row an entry point; with `check` the plugins are imported, without it nothing is."""
    selection = read_selection(os.environ, only, block)
    everything = sort_found(scan() if found is None else found)
    rows = {id(one): _row(one, "found") for one in everything}
    allowed = []
    for one in everything:
        if reason := selection.reason_blocked(one):
            rows[id(one)] = _row(one, "blocked", reason)
        else:
            allowed.append(one)
    loaded = _load(allowed) if check else _Loaded((), tuple(_duplicates(allowed)))
    for offer in loaded.offers:
        rows[id(offer.found)] = _row(offer.found, "ok")
    for fault in (*loaded.faults, *_clashes(loaded.offers)):
        rows[id(fault.found)] = _row(fault.found, fault.status, fault.reason)
    return tuple(rows[id(one)] for one in everything)


def _row(found: Found, status: Status, reason: str = "") -> PluginRow:
    return PluginRow(found.kind, found.name, found.distribution, found.version, status, reason)


def _check_agents(wanted: Iterable[str], found: Collection[Found], selection: Selection) -> None:
    """Raise PLG001 for a name that no allowed entry point has: not installed, or installed and kept out."""
    agents = {one.name: selection.reason_blocked(one) for one in found if one.group == "overeager.agents"}
    allowed = sorted(name for name, reason in agents.items() if reason is None)
    for name in wanted:
        if reason := agents.get(name):
            raise OvereagerError(
                "PLG001", f"the agent '{name}' is installed, but {reason}", where=f"{ONLY} or {BLOCK}", cure="allow it"
            )
        if name not in agents:
            hint = near_miss(name, allowed) or "installed here: " + (", ".join(allowed) or "none")
            raise OvereagerError(
                "PLG001",
                f"no installed plugin offers the agent '{name}'",
                cure=f"{hint}; see `overeager agents list`",
            )


def _is_wanted(found: Found, selection: Selection, agents: Collection[str] | None) -> bool:
    if found.group == "overeager.agents" and agents is not None and found.name not in agents:
        return False
    return selection.reason_blocked(found) is None


def _load(found: Collection[Found]) -> _Loaded:
    offers: list[Offer] = []
    faults = list(_duplicates(found))
    twice = find_duplicates(found)
    for group in GROUPS:
        loaded, broken = load_plugins(group, [one for one in found if one.group == group and one.key not in twice])
        faults.extend(broken)
        for plugin in loaded:
            result = call_plugin(plugin)
            offers.append(result) if isinstance(result, Offer) else faults.append(result)
    return _Loaded(tuple(offers), tuple(sorted(faults, key=lambda fault: fault.found[:5])))


def _duplicates(found: Collection[Found]) -> Iterator[Fault]:
    twice = find_duplicates(found)
    for one in found:
        if one.key in twice:
            others = [f"{two.origin} ({two.value})" for two in found if two.key == one.key and two is not one]
            yield duplicate(one, " and ".join(others))


def _fill(offers: Collection[Offer]) -> Registry:
    """The frozen registry; raises PLG006 with both names for an id that is offered twice."""
    if clashes := list(_clashes(offers)):
        raise ErrorGroup(fault.error() for fault in clashes)
    hashes = {module: hash_module(module) for module in sorted({_module(offer.found) for offer in offers})}
    origins = {offer.found.key: _origin(offer.found, hashes) for offer in offers}

    def collect(kind: str) -> Mapping[str, tuple[Any, Origin]]:
        pairs = [(name, (item, origins[one.key])) for its, name, item, one in _ids(offers) if its == kind]
        return MappingProxyType(dict(sorted(pairs, key=lambda pair: pair[0])))

    return Registry(*map(collect, Registry._fields))


def _origin(found: Found, hashes: Mapping[str, str]) -> Origin:
    return Origin(found.group, found.name, found.distribution, found.version, hashes[_module(found)])


def _module(found: Found) -> str:
    return found.value.partition(":")[0].partition("[")[0].strip()


def _ids(offers: Collection[Offer]) -> Iterator[tuple[str, str, Any, Found]]:
    """Every contribution with the registry's table that it goes into, and its id there."""
    for offer in offers:
        kind = offer.found.kind
        for item in offer.items:
            if kind == "shims":
                yield from (("shims", str(rule.command), rule, offer.found) for rule in item.rules)
                yield from (("stand_ins", str(one.command), one, offer.found) for one in item.stand_ins)
            else:
                yield kind, _id(item, offer.found), item, offer.found


def _id(item: Any, found: Found) -> str:
    match found.kind:
        case "agents":
            return str(item.id)
        case "archetypes":
            return found.name
    return str(item.name)


_WORDS = {
    "agents": "agent",
    "archetypes": "archetype package",
    "atoms": "atom",
    "axes": "axis",
    "shims": "command",
    "stand_ins": "stand-in for",
}


def _clashes(offers: Collection[Offer]) -> Iterator[Fault]:
    """A fault for each id that is offered a second time, by another plugin or the same."""
    first: dict[tuple[str, str], Found] = {}
    for kind, name, _item, found in _ids(offers):
        key = kind, name
        if key in first:
            reason = f"offers the {_WORDS[kind]} '{name}', as does '{first[key].name}' of {first[key].origin}"
            yield misfit(found, reason, f"rename one, or --block-plugin {found.name}", "PLG006")
        first.setdefault(key, found)
