"""What every plugin says of itself beside its hook: the interface versions that it fits, and its known gaps."""

from __future__ import annotations

from collections.abc import Mapping

from overeager.contract.agent import API
from overeager.loading.discover import Found
from overeager.loading.fault import Fault, misfit


def check_api(found: Found, holder: object) -> Fault | None:
    """The fault that `holder` (a module, package or adapter class) says no `api`, or one that leaves `API` out."""
    stated = getattr(holder, "api", None)
    versions = _range(stated)
    if versions is None:
        told = "declares no `api`" if stated is None else f"declares api = {stated!r}"
        return misfit(found, told, f"write `api = {API}` {_place(found)}, or `api = (oldest, newest)`", "PLG007")
    oldest, newest = versions
    written = f"is written for API {oldest}" if oldest == newest else f"is written for API {oldest} to {newest}"
    if oldest > API:
        cure = f"pip install --upgrade overeager, or install an older {found.distribution}"
        return Fault(found, "PLG007", "API too new", f"{written}, newer than this overeager's {API}", cure)
    if newest < API:
        cure = f"pip install --upgrade {found.distribution}, or ask its author for API {API}"
        return Fault(found, "PLG007", "API too old", f"{written}, older than this overeager's {API}", cure)
    return None


def read_known_gaps(found: Found, holder: object) -> tuple[tuple[str, str], ...] | Fault:
    """The conformance checks that the plugin says it fails, with its reasons, by code."""
    stated = getattr(holder, "known_gaps", {})
    if isinstance(stated, Mapping) and all(_is_text(word) for pair in stated.items() for word in pair):
        return tuple(sorted((str(code), str(reason)) for code, reason in stated.items()))
    cure = 'write `known_gaps = {"agent-…": "why it is borne"}`'
    return misfit(found, "declares 'known_gaps' as no mapping of codes to reasons", cure)


def _range(stated: object) -> tuple[int, int] | None:
    both = stated if isinstance(stated, tuple) else (stated, stated)
    if len(both) != 2 or any(type(one) is not int for one in both):
        return None
    return both if both[0] <= both[1] else None


def _place(found: Found) -> str:
    return {
        "agents": "in the adapter class",
        "archetypes": f"in {found.module}/__init__.py",
    }.get(found.kind, f"in the module {found.module}")


def _is_text(word: object) -> bool:
    return isinstance(word, str) and bool(word.strip())
