"""The door of every stream port: HTTP is passed on, everything else that callers try is answered and recorded here."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import h11

from overeager.gateway.listening import BoundedProtocol
from overeager.gateway.network.intake import Intake, Watchlist
from overeager.gateway.network.record import Attempt, Record, now
from overeager.gateway.network.tunnel import Tunnels

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.server import ServerState

_STAY = 1.0
"""Seconds in which what is sent behind an answered request is still taken in."""
_HELLO = b"\x16\x03"
_CONNECT = b"CONNECT "


class House(NamedTuple):
    """What stands behind a door."""

    record: Record
    watchlist: Watchlist
    tunnels: Tunnels
    quiet: bool = False
    """True = a connection over which nothing came leaves no record (an agent connects to its model in advance)."""


class Door(BoundedProtocol):
    """One connection."""

    def __init__(
        self,
        house: House,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._house = house
        self._began = now()
        self._opening = bytearray()
        self._decided = False
        self._came = False
        self._unread = Intake(house.watchlist)
        self._surplus: Intake | None = None
        self._port = self._peer = 0
        self._address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Note who calls, then serve."""
        endpoint: socket.socket = transport.get_extra_info("socket")
        self._address, self._port = endpoint.getsockname()[:2]
        peer = transport.get_extra_info("peername")
        self._peer = peer[1] if peer else 0
        self._own = transport
        super().connection_made(cast(asyncio.Transport, Lingering(transport)))
        if transport.is_closing():
            self._came = self._decided = True
            self._write(self._unread, "more connections at once than are served")

    def data_received(self, data: bytes) -> None:
        """Let HTTP through; take what is no HTTP to where it is answered."""
        self._came = True
        if not self._decided:
            self._opening += data
            if any(mark[: len(self._opening)] == self._opening[: len(mark)] for mark in (_HELLO, _CONNECT)):
                if len(self._opening) < len(_CONNECT) and not self._opening.startswith(_HELLO):
                    return
                self._hand_over(bytes(self._opening))
                return
            self._decided, data = True, bytes(self._opening)
        self._pass_on(data)

    def _hand_over(self, data: bytes) -> None:
        """Leave the connection to the protocol that its first bytes ask for."""
        self._decided = True
        self.connections.discard(self)
        other: asyncio.Protocol
        if data.startswith(_HELLO):
            other = Greeting(self._house, self._port, self._peer)
        else:
            other = self._house.tunnels.enter(self._port, self._peer)
        self._own.set_protocol(other)
        other.connection_made(self._own)
        other.data_received(data)

    def _pass_on(self, data: bytes) -> None:
        if self._surplus is not None or self.transport.is_closing():
            self._keep_surplus(data)
            return
        before = self.cycle
        if before is None or before.response_complete:
            self._unread.feed(data)
        super().data_received(data)
        if self.cycle is not before:
            self._unread = Intake(self._house.watchlist)

    def _keep_surplus(self, data: bytes) -> None:
        """Take in what comes behind the last request of the connection."""
        self._surplus = self._surplus or Intake(self._house.watchlist)
        self._surplus.feed(data)

    def eof_received(self) -> bool:  # type: ignore[override] # asyncio asks for it, uvicorn has nothing to say
        """Stay until a request that came whole is answered."""
        waiting = self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        if waiting:
            self.cycle.keep_alive = False
        return waiting

    def send_400_response(self, msg: str) -> None:
        """Record what is no request, unless it belongs to one whose record tells of it.

        What stands behind a whole request does not keep that one from being answered.
        """
        if self.cycle is None or self.cycle.response_complete:
            self._write(self._unread, "no request")
        elif not self.cycle.more_body:
            self.cycle.keep_alive = False
            self._keep_surplus(self.conn.trailing_data[0])
            return
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # an answer is under way
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Record what never became a request."""
        rest = self._unfinished()
        if self._surplus is not None:
            self._write(self._surplus, "sent behind a request")
        elif rest or (not self._came and not self._house.quiet):
            unread = Intake(self._house.watchlist)
            unread.feed(rest)
            self._write(unread, "closed before a request" if rest else "nothing was sent")
        super().connection_lost(exc)

    def _unfinished(self) -> bytes:
        """The beginning of a request that never came to its head's end."""
        if not self._decided:
            return bytes(self._opening)
        between = self.conn.their_state in (h11.IDLE, h11.DONE, h11.MUST_CLOSE, h11.CLOSED)
        return self.conn.trailing_data[0] if between else b""

    def _write(self, taken: Intake, error: str) -> None:
        self._house.record.write(
            Attempt(self._began, "tcp", self._address, self._port, taken.close(), self._port, self._peer, error=error)
        )


class Lingering:
    """A transport that on `close` says that it has said all, and stays a while for what the other side still sends."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._closing = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Whether `close` was called."""
        return self._closing or self._transport.is_closing()

    def close(self) -> None:
        """Close soon."""
        if self.is_closing():
            return
        self._closing = True
        try:
            self._transport.write_eof()
        except OSError:
            self._transport.close()
            return
        self._transport.resume_reading()
        asyncio.get_running_loop().call_later(_STAY, self._transport.close)


class Greeting(asyncio.Protocol):
    """A TLS client: it is asked for the name that it wants, and refused as a server does that serves no such name."""

    def __init__(self, house: House, port: int, peer: int) -> None:
        self._house, self._port, self._peer = house, port, peer
        self._began = now()
        self._taken = Intake(house.watchlist)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.sni_callback = self._note_name
        self._session = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._name = ""
        self._transport: asyncio.Transport | None = None

    def _note_name(self, session: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> int:
        self._name = (name or "").lower()
        return ssl.ALERT_DESCRIPTION_ACCESS_DENIED

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Read on until the greeting is whole, then refuse it."""
        assert self._transport is not None
        self._taken.feed(data)
        self._incoming.write(data)
        try:
            self._session.do_handshake()
        except ssl.SSLWantReadError:
            return
        except ssl.SSLError:
            self._transport.write(self._outgoing.read())
        self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Record the attempt."""
        taken = self._taken.close()
        self._house.record.write(
            Attempt(
                self._began,
                "tls",
                self._name,
                self._port,
                taken._replace(sensitive=_both(taken.sensitive, self._house.watchlist, self._name)),
                self._port,
                self._peer,
                error="refused: no certificate for this name",
            )
        )


def _both(found: tuple[tuple[str, str], ...], watchlist: Watchlist, name: str) -> tuple[tuple[str, str], ...]:
    return tuple(dict([*watchlist.take(name.encode()).sensitive, *found]).items())
