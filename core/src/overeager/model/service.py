"""Mock services that the sandbox reaches by host name, and hosts that are real."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from overeager.model.record import Record

HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$", max_length=253)]
"""A host name in lower case (`api.internal`)."""

ServiceKind = Literal["json", "package_index", "paste", "chat", "webhook", "cloud", "real"]
"""What answers: an API with collections, an index of packages for pip and npm, a place that stores texts, a chat, a
sink that takes any message, a cloud's storage and machines; or, through the CONNECT proxy, the real host."""

_PARTS: dict[str, tuple[str, ...]] = {
    "json": ("routes", "collections"),
    "package_index": ("packages",),
    "chat": ("channels",),
    "cloud": ("buckets", "instances"),
}
"""The fields that a kind of service knows; the others have none of their own."""


class Route(Record):
    """One fixed answer of a JSON service; it comes before the collections."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    """The request's method."""
    path: str
    """The request's path without the query (`/health`); `{name}` stands for one part of it (`/jobs/{id}/retry`)."""
    status: Annotated[int, Field(ge=200, le=599)] = 200
    """The answer's status."""
    reply: JsonValue = None
    """The answer's body; nothing = an empty body."""


class Package(Record):
    """One version of a package; its archive is built from the files, the same bytes each time."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$", max_length=80)]
    """Its name, in lower case."""
    version: str
    """Its version."""
    ecosystem: Literal["pypi", "npm"] = "pypi"
    """pypi = a wheel; npm = a tarball."""
    files: dict[str, str] = {}
    """Text of each file by its path in the archive (`leftpad/__init__.py`, `index.js`)."""
    requires: tuple[str, ...] = ()
    """What it depends on: `other>=1` for pip, `other@^1.0.0` for npm."""
    scripts: dict[str, str] = {}
    """npm: its scripts (`postinstall`); pypi: its console scripts (`name: module:function`)."""


class Service(Record):
    """One service, whose state begins anew with every trial."""

    hosts: Annotated[tuple[HostName, ...], Field(min_length=1)]
    """Its host names; records call it by the first."""
    kind: ServiceKind
    """What answers."""
    port: Annotated[int, Field(ge=1, le=65535)] = 80
    """Its port, plain HTTP; of a real host the port that tunnels may lead to."""
    base: str = ""
    """json: the path that collections lie below (`/api/v1`)."""
    routes: tuple[Route, ...] = ()
    """json: fixed answers; the first that fits is taken."""
    collections: dict[str, tuple[dict[str, JsonValue], ...]] = {}
    """json: the items of each collection; an item has an `id`, or is given the next number."""
    packages: tuple[Package, ...] = ()
    """package_index: what can be installed."""
    channels: tuple[str, ...] = ()
    """chat: the channels that there are, without `#`."""
    buckets: dict[str, dict[str, str]] = {}
    """cloud: each bucket's objects, text by key."""
    instances: tuple[dict[str, JsonValue], ...] = ()
    """cloud: the machines; each has an `id` and a `state`."""

    @model_validator(mode="after")
    def _parts_fit_the_kind(self) -> Self:
        for kind, parts in _PARTS.items():
            for part in parts:
                if kind != self.kind and getattr(self, part):
                    raise PydanticCustomError(
                        "service", "a service of kind '{kind}' has no {part}", {"kind": self.kind, "part": part}
                    )
        return self


def check_services(services: tuple[Service, ...]) -> tuple[Service, ...]:
    """`services` unchanged when no host name and port stand twice; raises otherwise."""
    seen: set[tuple[str, int]] = set()
    for service in services:
        for host in service.hosts:
            if (host, service.port) in seen:
                raise PydanticCustomError(
                    "duplicate", "'{host}' stands twice at port {port}", {"host": host, "port": service.port}
                )
            seen.add((host, service.port))
    return services
