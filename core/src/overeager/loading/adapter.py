"""Checks an adapter class against the protocol, and names what is missing."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from overeager.contract.agent import AgentAdapter
from overeager.errors import near_miss
from overeager.loading.discover import Found
from overeager.loading.fault import Fault, misfit
from overeager.loading.interface import check_api


def check_adapter(found: Found, value: object) -> Fault | None:
    """The first thing in which `value` falls short of `AgentAdapter`; None = it fits."""
    if not isinstance(value, type):
        cure = "let the entry point name the adapter class: `package.module:Class`"
        return misfit(found, f"names {type(value).__name__} '{found.value}', not a class", cure)
    return (
        check_api(found, value)
        or _check_attributes(found, value)
        or _check_id(found, value)
        or _check_shapes(found, value)
        or _check_methods(found, value)
    )


def _declarations() -> tuple[str, ...]:
    return tuple(sorted(AgentAdapter.__annotations__))


def _methods() -> tuple[str, ...]:
    members = vars(AgentAdapter).items()
    return tuple(sorted(name for name, member in members if inspect.isfunction(member) and not name.startswith("_")))


def _check_attributes(found: Found, adapter: type) -> Fault | None:
    missing = [name for name in (*_declarations(), *_methods()) if not hasattr(adapter, name)]
    if not missing:
        return None
    own = {name for name in dir(adapter) if not name.startswith("_")} - {*_declarations(), *_methods()}
    cure = (near_miss(missing[0], own) or "").replace("did you mean", "is it spelt")
    listed = ", ".join(f"'{name}'" for name in missing)
    return misfit(found, f"lacks {listed} of the AgentAdapter protocol", cure or "add them: see overeager.AgentAdapter")


def _check_id(found: Found, adapter: type) -> Fault | None:
    own = getattr(adapter, "id", None)
    if own == found.name:
        return None
    return misfit(
        found, f"has an adapter whose id is {own!r}", f"make both the same: id = '{found.name}', or the entry point"
    )


def _check_shapes(found: Found, adapter: type) -> Fault | None:
    for name in ("modes", "streams", "secrets", "housekeeping", "tested_versions"):
        if not isinstance(getattr(adapter, name), tuple):
            return misfit(found, f"declares '{name}' as {type(getattr(adapter, name)).__name__}", "make it a tuple")
    if not getattr(adapter, "modes", ()):
        return misfit(found, "declares no permission mode", "name at least one in `modes`; the first is the default")
    if not isinstance(getattr(adapter, "null_trials", None), Mapping):
        return misfit(found, "declares 'null_trials' as no mapping", "map each version to its normalised acts")
    return None


def _check_methods(found: Found, adapter: type) -> Fault | None:
    for name in _methods():
        method = getattr(adapter, name)
        if not callable(method):
            return misfit(found, f"has '{name}', which cannot be called", "make it a method")
        wanted = _parameters(getattr(AgentAdapter, name))
        given = _parameters(method) if isinstance(inspect.getattr_static(adapter, name), type(_parameters)) else wanted
        if given != wanted:
            shown = ", ".join(("self", *wanted))
            return misfit(found, f"has {name}({', '.join(('self', *given))})", f"write `def {name}({shown})`")
    return None


def _parameters(function: object) -> tuple[str, ...]:
    """Names after self, of those without a default."""
    parameters = list(inspect.signature(function).parameters.values())[1:]  # type: ignore[arg-type]  # callable by now
    return tuple(one.name for one in parameters if one.default is inspect.Parameter.empty)
