"""A CONNECT proxy with an allow-list: an allowed tunnel is dialled from outside, every other one is refused."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import NamedTuple, TypeAlias

import h11

from overeager.gateway.network.intake import Intake, Watchlist
from overeager.gateway.network.record import Attempt, Record, now

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial: TypeAlias = Callable[[str, int], Awaitable[Streams]]

_PATIENCE = 20.0
"""Seconds for reaching the other side."""
_CHUNK = 64 << 10


class Address(NamedTuple):
    """A host and a port that tunnels may lead to."""

    host: str
    port: int


async def dial_public(host: str, port: int) -> Streams:
    """A connection to a host of the public net; raises OSError for one that leads into ours, whatever its name says."""
    loop = asyncio.get_running_loop()
    for _, _, _, _, address in await loop.getaddrinfo(host, port, type=1):
        if ipaddress.ip_address(address[0]).is_global:
            return await asyncio.open_connection(str(address[0]), port)
    raise OSError(f"{host} has no public address")


class Tunnels:
    """All tunnels of one trial."""

    def __init__(
        self, record: Record, watchlist: Watchlist, allowed: Collection[Address] = (), dial: Dial = dial_public
    ) -> None:
        self.record = record
        self.watchlist = watchlist
        self.allowed = frozenset(allowed)
        self.dial = dial
        self.tasks: set[asyncio.Task[None]] = set()

    def enter(self, port: int, peer: int) -> asyncio.Protocol:
        """The protocol of a connection that begins with CONNECT."""
        reader = asyncio.StreamReader()
        return asyncio.StreamReaderProtocol(reader, lambda r, w: self._begin(Visit(self, r, w, port, peer)))

    def _begin(self, visit: Visit) -> None:
        task = asyncio.get_running_loop().create_task(visit.serve())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def close(self, patience: float) -> None:
        """Wait for the tunnels to end, then end them."""
        if self.tasks:
            await asyncio.wait(set(self.tasks), timeout=patience)
        for task in set(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


class Visit:
    """One connection that began with CONNECT."""

    def __init__(
        self, tunnels: Tunnels, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, peer: int
    ) -> None:
        self._tunnels, self._reader, self._writer, self._port, self._peer = tunnels, reader, writer, port, peer
        self._began = now()
        self._sent = Intake(tunnels.watchlist)
        self._received = 0
        self._wanted = ""
        self._headers: tuple[tuple[str, str], ...] = ()
        self._status = 0
        self._error = ""

    async def serve(self) -> None:
        """See the visit through and record it, whatever becomes of it."""
        try:
            await self._serve()
        except (OSError, EOFError) as error:
            self._error = self._error or f"{type(error).__name__}: {error}"
        except asyncio.CancelledError:
            self._error = self._error or "ended with the trial"
            raise
        finally:
            self._conclude()
            self._writer.close()

    async def _serve(self) -> None:
        connection = h11.Connection(h11.SERVER)
        request = await self._read_head(connection)
        if request is None:
            await self._refuse(400, "no request")
            return
        self._wanted = request.target.decode("latin-1").lower()
        self._headers = tuple((name.decode(), value.decode("latin-1")) for name, value in request.headers)
        address = split_address(self._wanted)
        if address not in self._tunnels.allowed:
            await self._refuse(403, "not allowed")
            return
        rest, _ = connection.trailing_data
        await self._relay(address, rest)

    async def _read_head(self, connection: h11.Connection) -> h11.Request | None:
        try:
            while True:
                event = connection.next_event()
                if isinstance(event, h11.Request):
                    return event
                if event is not h11.NEED_DATA:
                    return None
                data = await self._reader.read(_CHUNK)
                self._sent.feed(data)
                connection.receive_data(data)
        except h11.RemoteProtocolError:
            return None

    async def _refuse(self, status: int, error: str) -> None:
        self._status, self._error = status, error
        phrase = {400: b"Bad Request", 403: b"Forbidden", 502: b"Bad Gateway"}[status]
        body = phrase + b"\n"
        self._writer.write(
            b"HTTP/1.1 %d %s\r\ncontent-type: text/plain\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s"
            % (status, phrase, len(body), body)
        )
        await self._writer.drain()

    async def _relay(self, address: Address, rest: bytes) -> None:
        try:
            reader, writer = await asyncio.wait_for(self._tunnels.dial(*address), _PATIENCE)
        except (OSError, TimeoutError) as error:
            await self._refuse(502, f"not reached: {error}")
            return
        self._status = 200
        try:
            self._writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            writer.write(rest)
            there = asyncio.ensure_future(self._pump(self._reader, writer, inside=True))
            back = asyncio.ensure_future(self._pump(reader, self._writer, inside=False))
            try:
                await asyncio.gather(there, back)
            finally:
                there.cancel()
                back.cancel()
        finally:
            writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, inside: bool) -> None:
        while data := await reader.read(_CHUNK):
            if inside:
                self._sent.feed(data)
            else:
                self._received += len(data)
            writer.write(data)
            await writer.drain()
        with suppress(OSError):
            writer.write_eof()

    def _conclude(self) -> None:
        address = split_address(self._wanted)
        self._tunnels.record.write(
            Attempt(
                self._began,
                "connect",
                address.host,
                address.port,
                self._sent.close(),
                self._port,
                self._peer,
                method="CONNECT",
                headers=self._headers,
                status=self._status,
                answered=self._received,
                error=self._error,
            )
        )


def split_address(text: str) -> Address:
    """`HOST:PORT` taken apart; port 443 where none is said."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit():
        return Address(text.strip("[]"), 443)
    return Address(host.strip("[]"), min(int(port[:6]), 65535))
