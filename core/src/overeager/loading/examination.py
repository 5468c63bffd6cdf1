"""What importing one plugin shows, as plain data: it crosses from the process that imports to the one that asks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

from overeager.errors import OvereagerError
from overeager.loading.content import hash_module
from overeager.loading.contributions import contributions
from overeager.loading.discover import Found
from overeager.loading.fault import Fault, broken
from overeager.loading.hooks import Offer, call_plugin
from overeager.loading.installs import Cli, find_clis
from overeager.loading.manager import guard, load_plugins


class Examined(NamedTuple):
    """A plugin that loads and fits."""

    ids: tuple[tuple[str, str], ...]
    """(table, id) of each thing that it offers."""
    known_gaps: tuple[tuple[str, str], ...]
    clis: tuple[Cli, ...] | None
    """Of an adapter with a CLI, when they were asked for; else None."""


def is_imported(found: Found) -> bool:
    """Whether this process has imported the plugin's module already."""
    return found.module in sys.modules


def load(found: Found) -> Offer | Fault:
    """Import the plugin here, hold it against its contract, call its hook, and see that its content can be hashed."""
    loaded, faults = load_plugins(found.group, [found])
    if faults:
        return faults[0]
    offer = call_plugin(loaded[0])
    if isinstance(offer, Offer):
        try:
            hash_module(found.module)
        except OvereagerError as error:
            return broken(found, f"cannot be hashed: {error.what}", error.cure, error.code)
    return offer


def examine(found: Found, cache: Path | None = None) -> Examined | Fault:
    """`load`, told as plain data; with `cache` also which versions of an adapter's CLI lie there."""
    offer = load(found)
    if isinstance(offer, Fault):
        return offer
    ids = guard(found, "reading of what it offers", lambda: tuple((it.table, it.id) for it, _ in contributions(offer)))
    if isinstance(ids, Fault):
        return ids
    clis = guard(found, "reading of its pins", lambda: _clis(offer, cache))
    return clis if isinstance(clis, Fault) else Examined(ids, offer.known_gaps, clis)


def _clis(offer: Offer, cache: Path | None) -> tuple[Cli, ...] | None:
    if cache is None or offer.found.kind != "agents" or offer.items[0].vendor is None:
        return None
    return find_clis(offer.items[0], cache)


def dump(result: Examined | Fault) -> bytes:
    """One line."""
    plain = result._replace(found=None)._asdict() if isinstance(result, Fault) else result._asdict()  # type: ignore[arg-type]  # the reader knows it
    return json.dumps(plain).encode() + b"\n"


def parse(line: bytes, found: Found) -> Examined | Fault:
    """What `dump` wrote of `found`."""
    plain = json.loads(line)
    if "status" in plain:
        return Fault(**{**plain, "found": found})
    return Examined(
        ids=tuple((table, name) for table, name in plain["ids"]),
        known_gaps=tuple((code, reason) for code, reason in plain["known_gaps"]),
        clis=None if plain["clis"] is None else tuple(Cli(*one) for one in plain["clis"]),
    )
