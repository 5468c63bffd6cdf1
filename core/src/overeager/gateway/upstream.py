"""Who answers in the model's stead."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from overeager.contract.agent import Classified
from overeager.gateway.prices import PriceTable
from overeager.gateway.wire import Answer, Headers, ModelRequest


class Inquiry(NamedTuple):
    """An HTTP request as it came."""

    method: str
    path: str
    """With its query string."""
    headers: Headers
    body: bytes
    """As sent, content encoding and all."""


class Asked(NamedTuple):
    """A request to the model with what is known of it."""

    inquiry: Inquiry
    request: ModelRequest
    classified: Classified


class Upstream(Protocol):
    """A source of answers. Called on the gateway's own event loop, many requests at a time."""

    remote: bool
    """True = a failing answer is a fault outside the trial."""
    secrets: tuple[str, ...]
    """Values that no record may hold."""
    prices: PriceTable
    """Empty = its tokens cost nothing that is known."""

    async def answer(self, asked: Asked) -> Answer:
        """Answer a request to the model. Raising anything but `Cut` is a defect of ours."""

    async def look_up(self, inquiry: Inquiry) -> Answer | None:
        """Answer a count of tokens or a list of models; None = the gateway answers by itself."""

    async def close(self) -> None:
        """Let go of connections; called once, on the event loop."""
