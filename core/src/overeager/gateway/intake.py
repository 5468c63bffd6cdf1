"""Takes request bodies in, bounded one by one and all together, since the sender is the agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from starlette.requests import Request

from overeager.gateway.decoding import TooLarge, unpack
from overeager.gateway.wire import Malformed


class Body(NamedTuple):
    """A request's body as it was sent and as it reads."""

    sent: bytes
    plain: bytes


class Intake:
    """The bodies that are held at one moment."""

    def __init__(self, largest: int = 32 << 20, together: int = 128 << 20) -> None:
        """Both in bytes; `largest` is the API's own limit."""
        self._largest = largest
        self._room = together

    @asynccontextmanager
    async def receive(self, request: Request) -> AsyncIterator[Body]:
        """The whole body; raises Malformed (413, 529 or 400) and starlette's ClientDisconnect."""
        taken = 0
        try:
            pieces = []
            async for chunk in request.stream():
                taken += len(chunk)
                self._room -= len(chunk)
                if taken > self._largest:
                    raise Malformed("Request exceeds the maximum size", 413)
                if self._room < 0:
                    raise Malformed("Overloaded", 529)
                pieces.append(chunk)
            yield self._unpacked(b"".join(pieces), request.headers.get("content-encoding", ""))
        finally:
            self._room += taken

    def _unpacked(self, sent: bytes, encodings: str) -> Body:
        names = [name.strip().lower() for name in encodings.split(",") if name.strip()]
        try:
            return Body(sent, unpack(sent, reversed(names), self._largest))
        except TooLarge as error:
            raise Malformed("Request exceeds the maximum size", 413) from error
        except ValueError as error:
            raise Malformed("The request body cannot be decoded") from error
