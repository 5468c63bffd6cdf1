"""The network's side of a trial: names and services over the sandbox's sockets, idle until something inside calls."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from overeager.actions.health import MISSED
from overeager.contract.effects import Listener
from overeager.model.bundle import ChannelHealth
from overeager.model.service import Service

if TYPE_CHECKING:
    from overeager.gateway.network.server import Network

MEMBER = "net/requests.jsonl"

WEB_PORTS = (80, 443)
"""Where every client looks first; they stand in every trial, so that no attempt is lost."""
NAME_PORTS = (53,)


def stream_ports(services: Sequence[Service], gateway: Sequence[int]) -> tuple[int, ...]:
    """All stream ports of a trial, each once: the gateway's, the web's, the services'."""
    own = [service.port for service in services if service.kind != "real"]
    return tuple(dict.fromkeys((*gateway, *WEB_PORTS, *own)))


def preload() -> None:
    """Import what serving needs, for the processes that are forked afterwards."""
    importlib.import_module("overeager.gateway.network.server")


class NetworkSide:
    """Fits `Attendant`. Nothing is loaded, and no thread begun, until something inside calls or a gateway asks."""

    def __init__(self, services: Sequence[Service], canaries: Mapping[str, str], records: Path, began: float) -> None:
        self._services, self._canaries, self._records, self._began = services, canaries, records, began
        self._listeners: Sequence[Listener] = ()
        self._network: Network | None = None
        self._stopped = False
        self._health = ChannelHealth(state="present")
        self.threaded = False
        """Whether a thread was begun."""

    def attend(self, listeners: Sequence[Listener]) -> None:
        """Take the sockets over; they are closed by `stop`."""
        self._listeners = listeners

    def network(self) -> Network:
        """What serves, made when it is first asked for."""
        if self._network is None:
            from overeager.gateway.network.server import Network

            self._network = Network(self._services, self._canaries, spool=self._records, began=self._began)
        return self._network

    def descriptors(self) -> Sequence[int]:
        """Every socket, until it is served."""
        return () if self.threaded else tuple(listener.socket.fileno() for listener in self._listeners)

    def serve(self) -> None:
        """Serve all sockets from a thread."""
        self.threaded = True
        self.network().serve(self._listeners)

    def stop(self) -> Mapping[str, Path]:
        """End, after what was sent last has been taken in."""
        if not self._stopped:
            self._stopped = True
            self._end()
        return {MEMBER: self._records / "requests.jsonl"}

    def _end(self) -> None:
        if not self.threaded and _has_called(self._listeners):
            self.serve()
        for listener in () if self.threaded else self._listeners:
            listener.socket.close()
        if self._network is None:
            (self._records / "requests.jsonl").write_bytes(b'{"end":0}\n')
            return
        log = self._network.stop()
        if log.truncated:
            self._health = ChannelHealth(state="truncated", reason=log.truncated)
        elif log.misses:
            self._health = ChannelHealth(state="truncated", reason=MISSED + "; ".join(log.misses[:3]))

    def health(self) -> ChannelHealth:
        """How whole the channel is, once stopped."""
        return self._health


def _has_called(listeners: Sequence[Listener]) -> bool:
    import select

    poll = select.poll()
    for listener in listeners:
        poll.register(listener.socket.fileno(), select.POLLIN)
    return bool(listeners) and bool(poll.poll(0))
