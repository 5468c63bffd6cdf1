"""The mock services that a scenario can have, by their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from overeager.gateway.network.call import Responder
from overeager.gateway.network.front import Served
from overeager.gateway.network.services.cloud import Cloud
from overeager.gateway.network.services.json_api import JsonApi
from overeager.gateway.network.services.package_index import PackageIndex
from overeager.gateway.network.services.sinks import Chat, Paste, Webhook
from overeager.model.service import Service, ServiceKind

_KINDS: Mapping[ServiceKind, Callable[[Service], Responder]] = {
    "json": JsonApi,
    "package_index": PackageIndex,
    "paste": Paste,
    "chat": Chat,
    "webhook": Webhook,
    "cloud": Cloud,
}
"""A real host has no mock: it is reached through the proxy."""


def open_services(services: Iterable[Service]) -> dict[tuple[str, int], Served]:
    """What answers at each host name and port, in its first state."""
    opened: dict[tuple[str, int], Served] = {}
    for service in services:
        if service.kind != "real":
            served = Served(service.hosts[0], _KINDS[service.kind](service))
            opened |= {(host, service.port): served for host in service.hosts}
    return opened
