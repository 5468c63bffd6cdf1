"""The model's side of a trial: a gateway over the sandbox's listeners, or none."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from overeager.contract.agent import WireApi
from overeager.contract.effects import Listener
from overeager.errors import OvereagerError
from overeager.model.persona import Step
from overeager.run.ending import ModelSide
from overeager.run.equipment import GATEWAY_PORT, HOME, HOSTS, WORKSPACE, Equipment
from overeager.run.network_side import NetworkSide

if TYPE_CHECKING:
    from overeager.gateway.ledger import GatewayLog
    from overeager.gateway.upstream import Upstream

NULL_STEPS = (Step(say="Done."),)
"""What is played where no persona is."""

_KEY_SHAPES: Mapping[WireApi, tuple[str, int]] = {
    "anthropic-messages": ("sk-ant-api03-", 86),
    "openai-responses": ("sk-proj-", 48),
    "openai-chat": ("sk-proj-", 48),
    "gemini": ("AIzaSy", 33),
}


class GatewayRecord(NamedTuple):
    """What the model's side leaves behind."""

    side: ModelSide
    members: Mapping[str, Path]
    charged: float = 0.0
    """US dollars counted against the budget."""


class ModelGateway(Protocol):
    """A gateway, or the absence of one."""

    ports: Collection[int]
    """Which of the sandbox's ports are its own."""

    def start(self, listeners: Sequence[Listener]) -> None:
        """Serve those of `listeners` that stand at its ports."""

    def stop(self) -> GatewayRecord:
        """Stop and say what happened; callable more than once."""


def dummy_key(wire_api: WireApi | None, seed: str) -> str:
    """A key of the vendor's shape that opens nothing; the same for the same `seed`, so for both variants."""
    if wire_api is None:
        return ""
    prefix, length = _KEY_SHAPES[wire_api]
    digest = hashlib.shake_256(seed.encode()).hexdigest(length)
    return prefix + digest[:length]


def preload(equipment: Equipment) -> None:
    """Import what `open_gateway` will need, for the processes that are forked afterwards; nothing without a gateway."""
    if equipment.adapter.wire_api is None:
        return
    names = ["anthropic", "server", "persona" if equipment.provider is None else "provider"]
    for name in names:
        importlib.import_module(f"overeager.gateway.{name}")


def open_gateway(
    equipment: Equipment,
    steps: tuple[Step, ...],
    records: Path,
    began: float,
    budget: float | None,
    network: NetworkSide,
) -> ModelGateway:
    """The gateway that the cell's upstream asks for; requests for other hosts at its port are those of `network`.

    Raises RUN010 for a wire API that core does not speak.
    """
    if equipment.adapter.wire_api is None:
        return _NoGateway()
    return _Served(equipment, _upstream(equipment, steps), records, began, budget, network)


def _upstream(equipment: Equipment, steps: tuple[Step, ...]) -> Upstream:
    if equipment.provider is not None:
        from overeager.gateway.provider import Provider as RealProvider

        return RealProvider(equipment.provider.base_url, key=equipment.provider.key)
    from overeager.gateway.persona import PersonaModel

    return PersonaModel(equipment.adapter, steps=steps, workspace=WORKSPACE, home=HOME)


class _NoGateway:
    ports: Collection[int] = ()

    def start(self, listeners: Sequence[Listener]) -> None:
        return

    def stop(self) -> GatewayRecord:
        return GatewayRecord(ModelSide(), {})


class _Served:
    ports: Collection[int] = (GATEWAY_PORT,)

    def __init__(
        self,
        equipment: Equipment,
        upstream: Upstream,
        records: Path,
        began: float,
        budget: float | None,
        network: NetworkSide,
    ) -> None:
        if equipment.adapter.wire_api != "anthropic-messages":
            raise OvereagerError("RUN010", f"the gateway does not speak {equipment.adapter.wire_api} yet")
        from overeager.gateway.anthropic import AnthropicMessages
        from overeager.gateway.ledger import Budget
        from overeager.gateway.server import Gateway

        self._gateway = Gateway(
            AnthropicMessages(),
            upstream,
            equipment.adapter.classify,
            spool=records,
            began=began,
            names=("127.0.0.1", "localhost", *HOSTS),
            network=network.network(),
            budget=Budget(usd=budget) if budget is not None else None,
        )

    def start(self, listeners: Sequence[Listener]) -> None:
        self._gateway.start([one for one in listeners if one.port in self.ports])

    def stop(self) -> GatewayRecord:
        log = self._gateway.stop()
        return GatewayRecord(_side(log), log.members, log.charged)


def _side(log: GatewayLog) -> ModelSide:
    return ModelSide(
        exchanges=log.exchanges,
        budget_exhausted=log.budget_exhausted,
        provider_fault=f"the provider answered {log.last_fault}" if log.last_fault else "",
        crashed=log.crashed,
        unplayable="; ".join(log.unplayable),
    )
