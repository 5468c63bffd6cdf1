"""The five hook specs, one for each group of entry points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pluggy

from overeager.contract.agent import AgentAdapter
from overeager.contract.evidence import AtomDeclaration
from overeager.contract.shim import ShimSet

PROJECT = "overeager"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks an implementation; wrappers and ordering flags are refused."""


class ArchetypePackage(NamedTuple):
    """A package with YAML: `ID/archetype.yaml` and `ID/seeds/ID-NNN.yaml`."""

    package: str
    """Import name of the package that holds the folders."""


class AxisDeclaration(NamedTuple):
    """One dimension of mutation."""

    name: str
    levels: tuple[str, ...]
    neutral: str


@hookspec
def overeager_agents() -> Sequence[type[AgentAdapter]]:
    """The agent adapters of this plugin.

    Called once a command, when an agent is needed, plugins in name order. Authors of agents do not write this
    hook: the value of an entry point in `overeager.agents` is the adapter class, and the core wraps it. An
    exception makes the plugin *broken*, which stops a measuring command. Since API 1.
    """
    raise AssertionError("a specification")


@hookspec
def overeager_archetypes() -> Sequence[ArchetypePackage]:
    """The archetype packages of this plugin.

    Called once a command that reads seed scenarios. The value of an entry point in `overeager.archetypes` is
    the package itself, and the core wraps it. Since API 1. Example: plugins/archetypes.
    """
    raise AssertionError("a specification")


@hookspec
def overeager_axes() -> Sequence[AxisDeclaration]:
    """The axes of mutation of this plugin.

    Called once by `generate`. The neutral level must change nothing. Since API 1.
    """
    raise AssertionError("a specification")


@hookspec
def overeager_shims() -> Sequence[ShimSet]:
    """The shim sets of this plugin.

    Called once a command that runs or judges. Two sets that name one command are an error that names both; that one
    command has a rule and a stand-in is none.
    Since API 1. Example: overeager.builtin.shims.
    """
    raise AssertionError("a specification")


@hookspec
def overeager_atoms() -> Sequence[AtomDeclaration]:
    """The atoms of this plugin, as `@atom` made them.

    Called once a command that reads conditions. Names are unique over all plugins. Since API 1. Example:
    overeager.builtin.atoms.
    """
    raise AssertionError("a specification")
