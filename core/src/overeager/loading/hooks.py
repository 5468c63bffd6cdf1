"""Checks a plugin against the five hook specs, and calls it: one implementation at a time, attributed."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import pluggy

from overeager.contract import hooks
from overeager.contract.evidence import ATTRIBUTE, AtomDeclaration
from overeager.contract.hooks import ArchetypePackage, AxisDeclaration, hookimpl
from overeager.contract.shim import ShimSet
from overeager.errors import near_miss
from overeager.loading.adapter import check_adapter
from overeager.loading.discover import GROUPS, Found
from overeager.loading.fault import Fault, misfit
from overeager.loading.interface import check_api, read_known_gaps
from overeager.loading.manager import Loaded, guard

HOOKS = {group: "overeager_" + group.partition(".")[2] for group in GROUPS}
"""The hook of each group."""

_CONTRIBUTIONS: dict[str, type] = {
    "overeager.agents": type,
    "overeager.archetypes": ArchetypePackage,
    "overeager.atoms": AtomDeclaration,
    "overeager.axes": AxisDeclaration,
    "overeager.shims": ShimSet,
}
"""What each hook returns a list of."""

_ORDERING = ("wrapper", "hookwrapper", "tryfirst", "trylast", "optionalhook")


class Offer(NamedTuple):
    """What one plugin contributes."""

    found: Found
    items: tuple[Any, ...]
    known_gaps: tuple[tuple[str, str], ...] = ()
    """Code of a conformance check that it says it fails, and why; by code."""


def call_plugin(loaded: Loaded) -> Offer | Fault:
    """What the plugin's hook returns, after every check that needs no run."""
    found = loaded.found
    plugin = _wrap(loaded)
    if isinstance(plugin, Fault):
        return plugin
    gaps = read_known_gaps(found, loaded.value)
    if isinstance(gaps, Fault):
        return gaps
    manager = _register(found, plugin)
    if isinstance(manager, Fault):
        return manager
    caller = getattr(manager.hook, HOOKS[found.group])
    results = guard(found, f"the call of {HOOKS[found.group]}", lambda: list(caller()))
    if isinstance(results, Fault):
        return results
    offer = _check_items(found, results)
    return offer if isinstance(offer, Fault) else offer._replace(known_gaps=gaps)


class _AgentDoor:
    """The hook implementation around an adapter class."""

    def __init__(self, adapter: type) -> None:
        self._adapter = adapter

    @hookimpl
    def overeager_agents(self) -> Sequence[type]:
        """The one adapter of the entry point."""
        return (self._adapter,)


class _ArchetypesDoor:
    """The hook implementation around a package with YAML."""

    def __init__(self, package: str) -> None:
        self._package = package

    @hookimpl
    def overeager_archetypes(self) -> Sequence[ArchetypePackage]:
        """The one package of the entry point."""
        return (ArchetypePackage(self._package),)


def _wrap(loaded: Loaded) -> object:
    """The object that pluggy sees: our door for agents and archetypes, the module itself else."""
    found, value = loaded
    if found.group == "overeager.agents":
        return check_adapter(found, value) or _AgentDoor(value)  # type: ignore[arg-type]  # the check proved a class
    if not isinstance(value, ModuleType):
        what = f"names {type(value).__name__} '{found.value}' where its group wants a module"
        return misfit(found, what, "let the entry point end with the module: no `:attribute`")
    if found.group == "overeager.archetypes":
        if not hasattr(value, "__path__"):
            return misfit(
                found, f"names the module '{found.value}', which is no package", "name the package with the YAML"
            )
        return check_api(found, value) or _ArchetypesDoor(value.__name__)
    return check_api(found, value) or value


def _register(found: Found, plugin: object) -> pluggy.PluginManager | Fault:
    """A manager of this plugin's own, so that no other plugin can hide, wrap or reorder it."""
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    if fault := _check_implementations(found, manager, plugin):
        return fault
    try:
        manager.register(plugin, name=f"{found.group}:{found.name}")
    except pluggy.PluginValidationError as error:
        seen = str(error).splitlines()[-1]
        return misfit(found, f"has a hook with wrong arguments: {seen}", f"write `def {HOOKS[found.group]}():`")
    return manager


def _check_implementations(found: Found, manager: pluggy.PluginManager, plugin: object) -> Fault | None:
    hook = HOOKS[found.group]
    marked = {name: options for name in dir(plugin) if (options := manager.parse_hookimpl_opts(plugin, name))}
    for name, options in marked.items():
        spec = options.get("specname") or name
        if spec not in HOOKS.values():
            return misfit(
                found, f"implements the unknown hook '{spec}'", near_miss(spec, HOOKS.values()) or f"write `{hook}`"
            )
        if spec != hook:
            return misfit(found, f"implements '{spec}' in the group {found.group}", f"there, write `{hook}`")
        if flags := [flag for flag in _ORDERING if options.get(flag)]:
            return misfit(
                found, f"asks for {' and '.join(flags)} in '{name}'", "write a bare `@hookimpl`: order is by name"
            )
    if len(marked) > 1:
        return misfit(found, f"implements '{hook}' {len(marked)} times", "keep one implementation")
    if not marked:
        unmarked = f"has '{hook}' without its mark" if hasattr(plugin, hook) else f"does not implement '{hook}'"
        return misfit(found, unmarked, f"write `@hookimpl` above `def {hook}():` (from overeager import hookimpl)")
    return None


def _check_items(found: Found, results: list[Any]) -> Offer | Fault:
    """The one result, a list or tuple of what the group contributes."""
    hook, wanted = HOOKS[found.group], _CONTRIBUTIONS[found.group]
    result = results[0] if results else None
    if not isinstance(result, list | tuple) or hasattr(result, "_fields"):
        return misfit(
            found,
            f"returns {type(result).__name__} from '{hook}'",
            f"return a list of {wanted.__name__}, empty if need be",
        )
    for number, item in enumerate(result, start=1):
        if not isinstance(item, wanted):
            cure = f"return {wanted.__name__} only"
            if hasattr(item, ATTRIBUTE):
                cure = "return what `@atom` declared: getattr(function, 'overeager_atom')"
            return misfit(found, f"returns {type(item).__name__} as item {number} of '{hook}'", cure)
    if found.group == "overeager.axes" and (fault := _check_axes(found, result)):
        return fault
    if found.group == "overeager.agents":
        built = guard(found, "the creation of the adapter", lambda: tuple(item() for item in result))
        return built if isinstance(built, Fault) else Offer(found, built)
    return Offer(found, tuple(result))


def _check_axes(found: Found, axes: Sequence[AxisDeclaration]) -> Fault | None:
    """A neutral level that is none of the levels could never be taken."""
    for axis in axes:
        if axis.neutral not in axis.levels:
            what = f"names {axis.neutral!r} as the neutral level of '{axis.name}', which has no such level"
            return misfit(found, what, f"name one of {', '.join(axis.levels) or 'its levels'}")
    return None
