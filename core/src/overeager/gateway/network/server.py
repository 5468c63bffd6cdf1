"""The network of one trial: it waits without a thread until something inside calls, then serves from one."""

from __future__ import annotations

import asyncio
import functools
import select
import socket
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from overeager.contract.effects import Listener
from overeager.gateway.listening import SocketServer
from overeager.gateway.network.door import Door, House
from overeager.gateway.network.front import Front
from overeager.gateway.network.intake import Watchlist
from overeager.gateway.network.names import NameServer
from overeager.gateway.network.record import Record
from overeager.gateway.network.services import open_services
from overeager.gateway.network.tunnel import Address, Dial, Tunnels, dial_public
from overeager.model.service import Service

_LAST_CALLS = 0.5
"""Seconds in which what was sent before everything inside died is still taken in."""


class NetworkLog(NamedTuple):
    """What became of a trial's network."""

    member: Path
    truncated: str
    """Why attempts may be missing in the record; empty = none is."""
    misses: tuple[str, ...]
    """Requests that a service does not model."""


class Network:
    """The services of one trial. `serve` begins a thread; the sockets become the network's own."""

    def __init__(
        self,
        services: Collection[Service],
        canaries: Mapping[str, str],
        *,
        spool: Path,
        began: float,
        dial: Dial = dial_public,
    ) -> None:
        """`spool` is a folder for the member, `began` the trial's begin (CLOCK_MONOTONIC)."""
        self._record = Record(spool / "requests.jsonl", began)
        watchlist = Watchlist(canaries)
        allowed = [Address(host, one.port) for one in services if one.kind == "real" for host in one.hosts]
        tunnels = Tunnels(self._record, watchlist, allowed, dial)
        self.house = House(self._record, watchlist, tunnels)
        self.front = Front(self._record, watchlist, open_services(services))
        self._server: SocketServer | None = None
        self._sockets: list[Listener] = []
        self._thread: threading.Thread | None = None
        self._failure = ""
        self._log: NetworkLog | None = None

    def serve(self, listeners: Sequence[Listener]) -> None:
        """Serve `listeners` from a thread; returns once they are served."""
        self._sockets = list(listeners)
        self._server = SocketServer(self.front, functools.partial(Door, self.house))
        self._thread = threading.Thread(target=self._run, name="network", daemon=True)
        self._thread.start()
        self._server.up.wait()

    def stop(self) -> NetworkLog:
        """Take in what was sent before, end, and say what it came to; callable more than once."""
        if self._log is None:
            if self._thread is not None and self._server is not None:
                self._server.end()
                self._thread.join()
            self._record.close()
            failure = self._failure or self.front.crashed or self._record.truncated
            self._log = NetworkLog(self._record.path, failure, tuple(self._record.misses))
        return self._log

    def _run(self) -> None:
        assert self._server is not None
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - whatever ends the thread is to be told, not printed
            self._failure = self._failure or f"GTW007 the network's thread ended: {error!r}"
        finally:
            self._server.up.set()

    async def _serve(self) -> None:
        assert self._server is not None
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._on_loop_error)
        datagrams = [one.socket for one in self._sockets if one.protocol == "udp"]
        streams = [one.socket for one in self._sockets if one.protocol == "tcp"]
        servers = []
        for one in datagrams:
            one.setblocking(False)
            protocol = functools.partial(NameServer, self.house.record, self.house.watchlist)
            servers.append((await loop.create_datagram_endpoint(protocol, sock=one))[0])
        self._server.before_end = functools.partial(self._take_last_calls, [*datagrams, *streams])
        await self._server.serve(streams)
        await self.house.tunnels.close(_LAST_CALLS)
        for server in servers:
            server.close()

    async def _take_last_calls(self, sockets: Sequence[socket.socket]) -> None:
        """Let what lies in the sockets come in: its senders may be dead, what they sent is not."""
        assert self._server is not None
        loop = asyncio.get_running_loop()
        end = loop.time() + _LAST_CALLS
        poll = select.poll()
        for one in sockets:
            if one.fileno() >= 0:
                poll.register(one.fileno(), select.POLLIN)
        while (poll.poll(0) or self._server.server_state.connections) and loop.time() < end:
            await asyncio.sleep(0.002)

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        self._failure = self._failure or f"GTW007 {context.get('message')}: {context.get('exception')!r}"
