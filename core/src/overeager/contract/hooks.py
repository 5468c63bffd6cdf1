"""The five hook specs, one for each group of entry points: what a plugin is asked, when, and what it may answer.

A kind spells one word: the group `overeager.axes` has the hook `overeager_axes`; its distributions are
`overeager-axis-NAME`, and `overeager new-plugin axis NAME` writes one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, TypeAlias

import pluggy

from overeager.contract.agent import AgentAdapter
from overeager.contract.evidence import AtomDeclaration
from overeager.contract.shim import ShimSet
from overeager.model.scenario import Scenario

PROJECT = "overeager"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks an implementation; wrappers and ordering flags are refused."""

Mutate: TypeAlias = Callable[[Scenario, str, Random], Scenario]
"""(scenario, level, random) to the scenario at that level. Pure: all chance comes from `random`, which the caller
seeded; equal arguments give equal records, and nothing outside the axis's dimension differs."""


class ArchetypePackage(NamedTuple):
    """A package with YAML: `ID/archetype.yaml` and `ID/seeds/ID-NNN.yaml`."""

    package: str
    """Import name of the package that holds the folders."""


class AxisDeclaration(NamedTuple):
    """One dimension of mutation."""

    name: str
    """`prompt_style`; unique over all plugins."""
    levels: tuple[str, ...]
    neutral: str
    """The one of `levels` that changes nothing."""
    dimension: tuple[str, ...]
    """Dotted paths of what `mutate` may change, for example `prompt.text`, `fixture.files`."""
    mutate: Mutate


@hookspec
def overeager_agents() -> Sequence[type[AgentAdapter]]:
    """The agent adapters of this plugin. Authors of agents do not write this hook.

    The value of an entry point in the group `overeager.agents` is the adapter class itself
    (`mine = "overeager_agent_mine.adapter:Mine"`; the entry point's name is the adapter's `id`), and the core wraps it
    in an implementation that returns that one class.

    *Called* once a process, before the first trial, bundle or row: by `run`, `judge` and what judges on the way
    (`report`, `compare`, `show`) for the one agent that they need, by `bench build|lint|relock`, `agents list` and
    `list-plugins --check` for all that are allowed. *Order*: plugins by name, whatever the order of the entry points.
    *Arguments*: none. *May return* a list or tuple of classes that fit the `AgentAdapter` protocol; the core makes one
    instance of each, without arguments. *Raising*, at import, here or in the constructor, means that the plugin is
    broken: a measuring command stops before its first trial and names the distribution, and `list-plugins --check`
    shows it; so does a class that lacks a part of the protocol, or an interface version outside its `api`.

    Since API 1. A complete example: docs/extending/agents.md.
    """
    raise AssertionError("a specification")


@hookspec
def overeager_archetypes() -> Sequence[ArchetypePackage]:
    """The archetype packages of this plugin. Authors of archetypes do not write this hook.

    The value of an entry point in the group `overeager.archetypes` is the package that holds the YAML
    (`mine = "overeager_archetypes_mine"`), whose `__init__.py` says `api` and nothing else; the core wraps it.

    *Called* once a process, by `bench build` and `list-plugins --check`. *Order*: plugins by name; archetypes and seed
    scenarios are then sorted by id over all plugins, so the order of installation changes no byte of a bench.
    *Arguments*: none. *May return* a list or tuple of `ArchetypePackage`. *Raising*, at import or here, means that the
    plugin is broken and stops `bench build`. Faults in the YAML are not raised here: they are found when the files are
    read, and told all at once with file and line. An id that two packages use is an error that names both files.

    Since API 1. A complete example: docs/extending/archetypes.md.
    """
    raise AssertionError("a specification")


@hookspec
def overeager_axes() -> Sequence[AxisDeclaration]:
    """The axes of mutation of this plugin, as a module with this function offers them.

    The value of an entry point in the group `overeager.axes` is the module that implements the hook
    (`mine = "overeager_axis_mine"`) and says `api`.

    *Called* once a process, by the commands that mutate scenarios and by `list-plugins --check`. *Order*: plugins by
    name; axes are sorted by their own names, which are unique over all plugins. *Arguments*: none. *May return* a list
    or tuple of `AxisDeclaration`, empty if need be; its `mutate` is called later, once for each scenario that is made,
    with a `random.Random` of the caller's. *Raising*, at import or here, means that the plugin is broken and stops a
    measuring command before its first scenario. What `mutate` raises stops the command and names the distribution.

    Since API 1. A complete example: docs/extending/axes.md.
    """
    raise AssertionError("a specification")


@hookspec
def overeager_shims() -> Sequence[ShimSet]:
    """The shim sets of this plugin, as a module with this function offers them.

    The value of an entry point in the group `overeager.shims` is the module that implements the hook
    (`mine = "overeager_shims_mine"`) and says `api`.

    *Called* once a process: by `run`, before the first trial, since the commands decide what is mounted; by `judge` and
    what judges on the way, since the rules read what was recorded; by `bench build|lint|relock` and
    `list-plugins --check`. *Order*: plugins by name; no rule depends on it, because a command that two sets name is an
    error (PLG006) that names both. That one command has a rule and a stand-in is none: in one trial only one of them
    acts. *Arguments*: none. *May return* a list or tuple of `ShimSet`, empty if need be; `ShimRule.read` is called
    later, once for each recorded command, and never raises. *Raising*, at import or here, means that the plugin is
    broken and stops the command before the first trial.

    Since API 1. A complete example: docs/extending/shims.md.
    """
    raise AssertionError("a specification")


@hookspec
def overeager_atoms() -> Sequence[AtomDeclaration]:
    """The atoms of this plugin, as `@atom` made them and a module with this function offers them.

    The value of an entry point in the group `overeager.atoms` is the module that implements the hook
    (`mine = "overeager_atoms_mine"`) and says `api`.

    *Called* once a process, by every command that reads conditions: `bench build|lint|relock`, `run`, `judge` and what
    judges on the way, `atoms list|explain`, `list-plugins --check`. *Order*: plugins by name; atoms are sorted by
    their own names, which are unique over all plugins (PLG006 names both). *Arguments*: none. *May return* a list or
    tuple of `AtomDeclaration` (`predicate.overeager_atom`), empty if need be; a predicate is called later, at least
    once for each bundle whose scenario names it. *Raising*, at import or here, means that the plugin is broken and
    stops the command before the first trial or verdict: conditions that cannot be told would change what is counted.

    Since API 1. A complete example: docs/extending/atoms.md.
    """
    raise AssertionError("a specification")
