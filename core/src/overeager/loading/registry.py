"""Fills the registry: hard for commands that measure, soft for those that only look."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from overeager.contract.registry import Chosen, Origin, Registry, no_agent
from overeager.errors import ErrorGroup, OvereagerError
from overeager.loading.content import hash_module
from overeager.loading.contributions import contributions, find_clashes
from overeager.loading.discover import GROUPS, Found, scan, sort_found
from overeager.loading.examination import examine, is_imported, load
from overeager.loading.fault import Fault, duplicates
from overeager.loading.hooks import Offer
from overeager.loading.probe import probe, read_limit
from overeager.loading.selection import BLOCK, ONLY, Selection, check_selection, read_selection


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
    which adapters are imported, None = all. `hard`: raises PLG001 for one of `agents` that nothing offers, PLG002 for a
    word that names nothing, and an ErrorGroup of PLG003 to PLG008 when an allowed plugin is broken, does not fit, or
    stands twice: one that was skipped would change what is counted. Else it is left out, for pages that count nothing.
    Two plugins that offer one id are an error (PLG006) in either mode. A plugin that is not ours is imported in a
    process of its own first, so that one that hangs or kills its process is such a fault too.
    """
    selection = read_selection(os.environ, only, block)
    everything = sort_found(scan() if found is None else found)
    if hard:
        check_selection(selection, everything)
        _check_agents(agents or (), everything, selection)
    asked = [one for one in everything if one.group in set(groups) and _is_asked(one, agents)]
    wanted = [one for one in asked if selection.reason_blocked(one) is None]
    loaded = _load(wanted)
    if hard and loaded.faults:
        raise ErrorGroup(fault.error() for fault in loaded.faults)
    left_out = (f"{one.label} of {one.origin}" for one in asked if selection.reason_blocked(one) is not None)
    return _fill(loaded.offers, Chosen(selection.only, selection.block, tuple(sorted(left_out))))


def _check_agents(wanted: Iterable[str], found: Collection[Found], selection: Selection) -> None:
    """Raise PLG001 for a name that no allowed entry point has: not installed, or installed and kept out."""
    agents = {one.name: selection.reason_blocked(one) for one in found if one.group == "overeager.agents"}
    allowed = sorted(name for name, reason in agents.items() if reason is None)
    for name in wanted:
        if reason := agents.get(name):
            raise OvereagerError(
                "PLG001",
                f"the agent '{name}' is installed, but {reason}",
                where=f"--only-plugin, --block-plugin, {ONLY} or {BLOCK}",
                cure="allow it",
            )
        if name not in agents:
            raise no_agent(name, allowed)


def _is_asked(found: Found, agents: Collection[str] | None) -> bool:
    return found.group != "overeager.agents" or agents is None or found.name in agents


def _load(found: Collection[Found]) -> _Loaded:
    """Each plugin once, in the sorted order; what stands twice is not imported."""
    faults = list(duplicates(found))
    twice = {id(fault.found) for fault in faults}
    offers: list[Offer] = []
    for one in found:
        if id(one) not in twice:
            result = load_one(one)
            offers.append(result) if isinstance(result, Offer) else faults.append(result)
    return _Loaded(tuple(offers), tuple(sorted(faults, key=lambda fault: fault.found[:5])))


def load_one(found: Found) -> Offer | Fault:
    """What was imported before, and what is ours, needs no trial in a process of its own."""
    if not found.is_ours and not is_imported(found):
        tried = probe(found, read_limit(os.environ), examine)
        if isinstance(tried, Fault):
            return tried
    return load(found)


def _fill(offers: Collection[Offer], chosen: Chosen) -> Registry:
    """The frozen registry; raises PLG006 with both names for an id that is offered twice."""
    pairs = [pair for offer in offers for pair in contributions(offer)]
    if clashes := list(find_clashes(contribution for contribution, _ in pairs)):
        raise ErrorGroup(fault.error() for fault in clashes)
    origins = {offer.found.key: _origin(offer) for offer in offers}

    def collect(table: str) -> Mapping[str, tuple[Any, Origin]]:
        its = [(one.id, (item, origins[one.found.key])) for one, item in pairs if one.table == table]
        return MappingProxyType(dict(sorted(its, key=lambda pair: pair[0])))

    return Registry(
        agents=collect("agents"),
        archetypes=collect("archetypes"),
        axes=collect("axes"),
        shims=collect("shims"),
        atoms=collect("atoms"),
        stand_ins=collect("stand_ins"),
        chosen=chosen,
    )


def _origin(offer: Offer) -> Origin:
    found = offer.found
    sha256 = hash_module(found.module)
    return Origin(found.group, found.name, found.distribution, found.version, sha256, offer.known_gaps)
