"""What the plugins offer, by id, with its origin; frozen once it is filled."""

from __future__ import annotations

from collections.abc import Mapping
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

    def agent(self, agent_id: str) -> AgentAdapter:
        """The adapter `agent_id`; raises PLG001 with the near miss."""
        if agent_id not in self.agents:
            hint = near_miss(agent_id, self.agents) or "installed here: " + (", ".join(self.agents) or "none")
            raise OvereagerError(
                "PLG001",
                f"no installed plugin offers the agent '{agent_id}'",
                cure=f"{hint}; agents come as distributions, for example overeager-agent-{agent_id}",
            )
        return self.agents[agent_id][0]
