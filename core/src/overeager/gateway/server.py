"""The gateway: serves handed-in sockets from one thread of the trial process, from `start` to `stop`."""

from __future__ import annotations

import asyncio
import functools
import socket
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from starlette.types import ASGIApp, Receive, Scope, Send

from overeager.contract.effects import Listener
from overeager.errors import OvereagerError
from overeager.gateway.endpoint import Classify, ModelEndpoint
from overeager.gateway.ledger import Budget, GatewayLog, Ledger
from overeager.gateway.listening import SocketServer
from overeager.gateway.network.door import Door
from overeager.gateway.network.front import find_wanted
from overeager.gateway.network.server import Network
from overeager.gateway.recorder import Recorder
from overeager.gateway.upstream import Upstream
from overeager.gateway.wire import Wire


class Site(NamedTuple):
    """Who answers under which host names; the first that fits is taken."""

    names: tuple[str, ...]
    app: ASGIApp


class Gateway:
    """The model's endpoint of one trial.

    Made and started after the auditor was forked: `start` begins a thread. The listening sockets become the
    gateway's own and are closed by `stop`. Requests for a host that is neither in `names` nor in `sites` are those of
    `network`, and without one they are recorded and answered 404.
    """

    def __init__(
        self,
        wire: Wire,
        upstream: Upstream,
        classify: Classify,
        *,
        spool: Path,
        began: float,
        names: Iterable[str] = ("127.0.0.1", "localhost"),
        sites: Sequence[Site] = (),
        network: Network | None = None,
        budget: Budget | None = None,
        room: int = 1 << 30,
    ) -> None:
        """`spool` is a folder for the members, `began` the trial's begin (CLOCK_MONOTONIC), `room` bytes for both
        members; raises GTW001 when the folder cannot be written."""
        self._upstream = upstream
        self._ledger = Ledger(budget, upstream.prices)
        try:
            self._recorder = Recorder(wire.api, spool, began, upstream.secrets, room)
        except OSError as error:
            raise OvereagerError(
                "GTW001", f"the model gateway cannot write its record: {error}", where=spool, cure="free or grant it"
            ) from error
        self._endpoint = ModelEndpoint(wire, upstream, classify, self._recorder, self._ledger)
        self._sites = (Site(tuple(names), self._endpoint), *sites)
        self._elsewhere: ASGIApp = self._endpoint.stray
        self._server = SocketServer(self._dispatch)
        if network is not None:
            self._elsewhere = network.front
            self._server = SocketServer(self._dispatch, functools.partial(Door, network.house._replace(quiet=True)))
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._log: GatewayLog | None = None
        self._failure = ""

    def start(self, listeners: Sequence[Listener]) -> None:
        """Serve `listeners`, which must be bound and may already listen; returns once they are served."""
        sockets = [listener.socket for listener in listeners]
        self._thread = threading.Thread(target=self._run, args=(sockets,), name="model", daemon=True)
        self._thread.start()
        self._server.up.wait()
        if self._failure:
            self._thread.join()
            raise OvereagerError(
                "GTW001", f"the model gateway did not start: {self._failure}", cure="see `overeager doctor`"
            )

    def stop(self) -> GatewayLog:
        """End what is under way, flush the record and say what it came to. Callable from any thread, more than once."""
        with self._lock:
            if self._log is None:
                self._log = self._close()
            return self._log

    def _close(self) -> GatewayLog:
        if self._thread is not None:
            self._server.end()
            self._thread.join()
        try:
            self._recorder.close()
        except OSError as error:
            self._failure = self._failure or f"GTW006 the record of the exchanges could not be written: {error}"
        return self._ledger.close(
            self._recorder.truncated, self._endpoint.crashed or self._failure, self._recorder.members
        )

    def _run(self, sockets: list[socket.socket]) -> None:
        try:
            asyncio.run(self._serve(sockets))
        except BaseException as error:  # noqa: BLE001 - whatever ends the thread is to be told, not printed
            self._failure = f"GTW001 the gateway's thread ended: {error!r}"
        finally:
            self._server.up.set()

    async def _serve(self, sockets: list[socket.socket]) -> None:
        asyncio.get_running_loop().set_exception_handler(self._on_loop_error)
        try:
            await self._server.serve(sockets)
        finally:
            await self._upstream.close()

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        self._failure = self._failure or f"GTW001 {context.get('message')}: {context.get('exception')!r}"

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = find_wanted(scope).host
        app = next((site.app for site in self._sites if host in site.names), self._elsewhere)
        await app(scope, receive, send)
