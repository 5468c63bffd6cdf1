"""What the plugins offer, by id, with its origin; frozen once it is filled."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from overeager.contract.agent import AgentAdapter
from overeager.contract.evidence import AtomDeclaration
from overeager.contract.hooks import ArchetypePackage, AxisDeclaration
from overeager.contract.shim import ShimRule
from overeager.contract.stand_in import StandIn
from overeager.errors import OvereagerError, near_miss


class Origin(NamedTuple):
    """Which plugin offers a thing."""

    group: str
    """`overeager.atoms`."""
    plugin: str
    """The entry point's name."""
    distribution: str
    version: str
    sha256: str
    """Content hash of the entry point's own module or package."""
    known_gaps: tuple[tuple[str, str], ...] = ()
    """Code of a conformance check that the plugin says it fails, and why; by code."""


class Chosen(NamedTuple):
    """What a command was told of plugins, and whom that kept out."""

    only: tuple[str, ...] = ()
    """Words of `--only-plugin` or its variable."""
    block: tuple[str, ...] = ()
    """Words of `--block-plugin` or its variable."""
    left_out: tuple[str, ...] = ()
    """Plugins that are installed and were kept out: `kind:name of distribution version`, sorted."""


class Registry(NamedTuple):
    """Everything that is offered; ids in sorted order, whatever the order of the entry points."""

    agents: Mapping[str, tuple[AgentAdapter, Origin]]
    archetypes: Mapping[str, tuple[ArchetypePackage, Origin]]
    """By plugin name."""
    axes: Mapping[str, tuple[AxisDeclaration, Origin]]
    shims: Mapping[str, tuple[ShimRule, Origin]]
    """By command."""
    atoms: Mapping[str, tuple[AtomDeclaration, Origin]]
    stand_ins: Mapping[str, tuple[StandIn, Origin]] = MappingProxyType({})
    """By command."""
    chosen: Chosen = Chosen()

    def agent(self, agent_id: str) -> AgentAdapter:
        """The adapter `agent_id`; raises PLG001 with the near miss."""
        if agent_id not in self.agents:
            raise no_agent(agent_id, self.agents)
        return self.agents[agent_id][0]


def no_agent(agent_id: str, known: Collection[str]) -> OvereagerError:
    """PLG001 for an agent that no installed plugin offers: the near miss, or what to install."""
    here = f"installed here: {', '.join(sorted(known)) or 'none'}"
    hint = near_miss(agent_id, known) or f"agents come as distributions: pip install overeager-agent-{agent_id}"
    return OvereagerError("PLG001", f"no installed plugin offers the agent '{agent_id}'", cure=f"{hint} ({here})")
