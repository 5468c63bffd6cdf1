"""From a word to plugins, and from a plugin to what its checks look at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from overeager.conformance.check import Check, Outcome, run_checks
from overeager.errors import OvereagerError, near_miss
from overeager.loading.discover import Found, scan
from overeager.loading.fault import Fault, duplicates
from overeager.loading.hooks import Offer
from overeager.loading.registry import load_one
from overeager.loading.selection import is_named, read_selection

SINGULAR = {"agents": "agent", "archetypes": "archetype", "atoms": "atom", "axes": "axis", "shims": "shim"}
"""Kind to the word with which its checks' codes begin."""

KINDS = tuple(SINGULAR)


class Subject(NamedTuple):
    """A plugin that loads and fits, ready to be checked."""

    found: Found
    seen: Any
    """What the checks of its kind take."""
    known_gaps: tuple[tuple[str, str], ...]


def find_plugins(word: str) -> tuple[Found, ...]:
    """The installed plugins that `word` names (entry point, `kind:name` or distribution), sorted.

    Raises PLG002 where it names none.
    """
    everything = scan()
    named = tuple(one for one in everything if is_named(word, one))
    if not named:
        known = [name for one in everything for name in (one.name, one.label, one.distribution)]
        hint = near_miss(word, known) or "install it, or give the path of its project"
        cure = f"its project is here: write ./{word}" if (Path(word) / "pyproject.toml").is_file() else hint
        raise OvereagerError("PLG002", f"no installed plugin is named '{word}'", cure=cure)
    return named


def open_subject(found: Found) -> Subject:
    """The plugin, imported; raises PLG002 when it is kept out, PLG003 to PLG005, PLG007 and PLG008 for its faults."""
    selection = read_selection(os.environ)
    if reason := selection.reason_blocked(found):
        raise OvereagerError("PLG002", f"'{found.label}' is to be checked, and {reason}", cure="allow it")
    allowed = [one for one in scan() if selection.reason_blocked(one) is None]
    for fault in duplicates(allowed):
        if fault.found == found:
            raise fault.error()
    offer = load_one(found)
    if isinstance(offer, Fault):
        raise offer.error()
    return Subject(found, _see(offer), offer.known_gaps)


def checks_of(kind: str) -> tuple[Check[Any], ...]:
    """The checks of a kind, in the order in which they are made."""
    checks: tuple[Check[Any], ...] = import_module(f"overeager.conformance.{kind}").CHECKS
    return checks


def find_check(code: str) -> Check[Any]:
    """The check with this code; raises PLG013."""
    own = (kind for kind in KINDS if code.startswith(f"{SINGULAR[kind]}-"))
    checks = {check.code: check for kind in own for check in checks_of(kind)}
    if code not in checks:
        checks = {check.code: check for kind in KINDS for check in checks_of(kind)}
        cure = near_miss(code, checks) or f"there are: {', '.join(checks)}"
        raise OvereagerError("PLG013", f"there is no check '{code}'", cure=cure)
    return checks[code]


def check_subject(subject: Subject, checks: Iterable[Check[Any]] | None = None) -> Iterator[Outcome]:
    """Make the checks of its kind, or those given, one after the other."""
    chosen = checks_of(subject.found.kind) if checks is None else checks
    return run_checks(chosen, subject.seen, dict(subject.known_gaps))


def _see(offer: Offer) -> Any:
    """What the checks of the plugin's kind look at."""
    module = import_module(f"overeager.conformance.{offer.found.kind}")
    if offer.found.kind == "agents":
        return module.make_subject(offer.found, offer.items[0])
    return module.see(offer)
