"""uvicorn on handed-in sockets, without signals, logging or its waits at the end."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

import uvicorn
import uvicorn.lifespan.off  # uvicorn loads it by name, which after a fork would cost every trial its import
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

_MOST_CONNECTIONS = 256
_GRACE = 0.5
"""Seconds that requests under way are given at the end; the agent is dead by then."""


class BoundedProtocol(H11Protocol):
    """Refuses connections beyond a bound, so that an agent cannot use up the trial's file descriptors."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Serve the connection without delay, or cut it at once."""
        if len(self.connections) >= _MOST_CONNECTIONS:
            self.transport = transport
            transport.abort()
            return
        # asyncio does this only where it knows the socket for TCP, which one made with protocol 0 does not say;
        # without it each event of a stream waits for the client's delayed acknowledgement, 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)


class SocketServer(uvicorn.Server):
    """Serves until `end`, which any thread may call; uvicorn's own loop polls, and its shutdown sleeps 0.1 s."""

    def __init__(self, app: ASGIApp, protocol: Callable[..., asyncio.Protocol] = BoundedProtocol) -> None:
        """`protocol` makes the protocol of one connection."""
        super().__init__(
            uvicorn.Config(
                app,
                interface="asgi3",
                http=protocol,  # type: ignore[arg-type] # uvicorn calls what is no name
                loop="asyncio",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",  # what goes wrong is told by the gateway's log, never printed
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=3600,  # an agent that thinks for long must not meet a closing connection
            )
        )
        self.up = threading.Event()
        self.before_end: Callable[[], Awaitable[None]] | None = None
        """Done first when it ends, while callers are still let in."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Event | None = None

    def end(self) -> None:
        """Make `serve` return soon; nothing when it does not run."""
        if self._loop is not None and self._ending is not None:
            with suppress(RuntimeError):  # the loop is closed already
                self._loop.call_soon_threadsafe(self._ending.set)

    async def main_loop(self) -> None:
        """Wait for `end`; the Date header is renewed every second."""
        self._ending = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        await self.on_tick(0)
        self.up.set()
        while not self._ending.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), 1.0)
            await self.on_tick(0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close everything; requests under way have a short grace, then they are cancelled."""
        if self.before_end is not None:
            await self.before_end()
        for server in self.servers:
            server.close()
        tasks = set(self.server_state.tasks)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_GRACE)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
