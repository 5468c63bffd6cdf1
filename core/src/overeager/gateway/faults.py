"""An upstream that fails as real ones do, on demand: for tests of agents and endings, never part of a measured run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Literal, NamedTuple

from overeager.gateway.upstream import Asked, Inquiry, Upstream
from overeager.gateway.wire import Answer, Cut, Message, Refusal, Relay, Wire

_EVENTS = (("content-type", "text/event-stream; charset=utf-8"),)
_HTML = (("content-type", "text/html"),)


class Failure(NamedTuple):
    """One way to fail, at one turn of the main conversation."""

    kind: Literal["status", "malformed", "cut", "html", "hang"]
    turn: int = 0
    times: int = 1
    """How many requests it strikes."""
    status: int = 500
    """For the kind `status`."""


class FailingUpstream:
    """`inner`, but for the failures; they count as the provider's."""

    remote = True

    def __init__(self, inner: Upstream, wire: Wire, failures: Iterable[Failure]) -> None:
        self.secrets = inner.secrets
        self.prices = inner.prices
        self._inner = inner
        self._wire = wire
        self._left = list(failures)

    async def answer(self, asked: Asked) -> Answer:
        """The next failure of this turn, or the inner answer."""
        failure = self._next(asked)
        if failure is None:
            return await self._inner.answer(asked)
        if failure.kind == "status":
            return Refusal(failure.status, "Overloaded")
        if failure.kind == "malformed":
            return Relay(200, _EVENTS, _whole(b"event: message_start\ndata: {not json\n\n"))
        if failure.kind == "html":
            return Relay(200, _HTML, _whole(b"<html><body>Welcome</body></html>"))
        if failure.kind == "cut":
            return await self._cut(asked)
        return Relay(200, _EVENTS, _silence())

    async def look_up(self, inquiry: Inquiry) -> Answer | None:
        """The inner answer."""
        return await self._inner.look_up(inquiry)

    async def close(self) -> None:
        """Close the inner upstream."""
        await self._inner.close()

    def _next(self, asked: Asked) -> Failure | None:
        for place, failure in enumerate(self._left):
            if asked.classified.role == "main" and failure.turn == asked.request.tool_turns and failure.times > 0:
                self._left[place] = failure._replace(times=failure.times - 1)
                return failure
        return None

    async def _cut(self, asked: Asked) -> Answer:
        answer = await self._inner.answer(asked)
        if not isinstance(answer, Message):
            return answer
        whole = b"".join(self._wire.render(answer, asked.request))
        return Relay(200, _EVENTS if asked.request.stream else (("content-type", "application/json"),), _half(whole))


async def _whole(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _half(body: bytes) -> AsyncIterator[bytes]:
    yield body[: len(body) // 2]
    raise Cut("cut on demand")


async def _silence() -> AsyncIterator[bytes]:
    await asyncio.Event().wait()
    yield b""
