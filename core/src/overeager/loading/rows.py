"""What `list-plugins` shows: a row an entry point, whatever the others do."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from overeager.loading.discover import Found, scan, sort_found
from overeager.loading.fault import FAULTS, Fault, Status, duplicates
from overeager.loading.selection import read_selection

if TYPE_CHECKING:
    from overeager.loading.examination import Examined
    from overeager.loading.installs import Cli


class PluginRow(NamedTuple):
    """A line of `list-plugins`."""

    kind: str
    name: str
    distribution: str
    version: str
    status: Status
    reason: str = ""
    """Why it cannot be used; of one that works, its known gaps."""
    code: str = ""
    """The error by which a measuring command stops; empty = it does not."""
    cure: str = ""
    known_gaps: Mapping[str, str] | None = None
    """Code of a conformance check that the plugin says it fails, to the reason; None = it was not imported."""
    clis: tuple[Cli, ...] | None = None
    """Versions of an adapter's CLI on this platform; None = it has none, or was not imported."""

    @property
    def faulty(self) -> bool:
        """Whether a measuring command that needs it would stop."""
        return self.status in FAULTS


def plugin_rows(
    check: bool,
    *,
    only: Iterable[str] | None = None,
    block: Iterable[str] | None = None,
    found: Collection[Found] | None = None,
) -> tuple[PluginRow, ...]:
    """One row an entry point, sorted. With `check` each allowed plugin is imported, in a process of its own and for
    OVEREAGER_IMPORT_SECONDS at most; without it nothing is."""
    selection = read_selection(os.environ, only, block)
    everything = sort_found(scan() if found is None else found)
    reasons = {id(one): selection.reason_blocked(one) for one in everything}
    allowed = [one for one in everything if reasons[id(one)] is None]
    faults = {id(fault.found): fault for fault in duplicates(allowed)}
    examined: Mapping[int, Examined] = {}
    if check:
        examined, more = _examine([one for one in allowed if id(one) not in faults])
        faults |= more
    return tuple(_row(one, reasons[id(one)] or "", faults.get(id(one)), examined.get(id(one))) for one in everything)


def _examine(found: Collection[Found]) -> tuple[dict[int, Examined], dict[int, Fault]]:
    """What works, and what does not, by `id` of what was found: keys and values may stand twice."""
    from overeager.loading.contributions import Contribution, find_clashes
    from overeager.loading.examination import examine
    from overeager.loading.probe import probe, read_limit
    from overeager.store.cache import cache_place

    seconds, cache = read_limit(os.environ), cache_place(os.environ)
    said = {id(one): probe(one, seconds, lambda found: examine(found, cache)) for one in found}
    works = {key: result for key, result in said.items() if not isinstance(result, Fault)}
    offered = [Contribution(*pair, one) for one in found if id(one) in works for pair in works[id(one)].ids]
    clashes = {id(fault.found): fault for fault in find_clashes(offered)}
    return works, clashes | {key: result for key, result in said.items() if isinstance(result, Fault)}


def _row(found: Found, blocked: str, fault: Fault | None, examined: Examined | None) -> PluginRow:
    row = PluginRow(found.kind, found.name, found.distribution, found.version, "found")
    if blocked:
        return row._replace(status="blocked", reason=blocked)
    if fault is not None:
        return row._replace(status=fault.status, reason=fault.reason, code=fault.code, cure=fault.cure)
    if examined is None:
        return row
    gaps = dict(examined.known_gaps)
    told = "; ".join(f"{code} ({reason})" for code, reason in gaps.items())
    return row._replace(status="ok", reason=told and f"known gaps: {told}", known_gaps=gaps, clis=examined.clis)
