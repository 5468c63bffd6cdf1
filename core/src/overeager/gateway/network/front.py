"""HTTP at the sandbox's network: a request goes to the service of its host, and is recorded whatever becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from overeager.gateway.network.call import Call, Reply, Responder
from overeager.gateway.network.intake import KEPT, READ, Intake, Watchlist
from overeager.gateway.network.record import Attempt, Record, ServiceChange, now

_MOST_HEADERS = 16 << 10
"""Characters of headers that the record keeps."""


class Served(NamedTuple):
    """A service and the name that records call it by."""

    name: str
    responder: Responder


class Wanted(NamedTuple):
    """Whom a request is for."""

    host: str
    """In lower case, without the port."""
    port: int
    path: str
    """As it came, with the query, without scheme and host."""


class Front:
    """One ASGI application for every port."""

    def __init__(self, record: Record, watchlist: Watchlist, services: Mapping[tuple[str, int], Served]) -> None:
        """`services` by host name and port."""
        self._record = record
        self._watchlist = watchlist
        self._services = services
        self.crashed = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the request in, answer it, record it."""
        began, request = now(), Request(scope, receive)
        wanted = find_wanted(scope)
        room = READ if (wanted.host, wanted.port) in self._services else KEPT
        intake = Intake(self._watchlist, request.headers.get("content-encoding", ""), room)
        reply, error, name = Reply(0), "", ""
        try:
            async for piece in request.stream():
                intake.feed(piece)
            name, reply = self._answer(scope, wanted, intake)
        except ClientDisconnect:
            error = "the caller left"
        except asyncio.CancelledError:
            error = "unfinished at the end"
            raise
        finally:
            self._note(began, scope, wanted, intake, name, reply, error)
        if not error:
            await _send(send, reply)

    def _answer(self, scope: Scope, wanted: Wanted, intake: Intake) -> tuple[str, Reply]:
        served = self._services.get((wanted.host, wanted.port))
        if served is None or scope["method"] == "CONNECT":
            return "", Reply(403, b"Forbidden\n", "text/plain; charset=utf-8")
        if not intake.whole:
            return served.name, Reply(413, b"Content Too Large\n", "text/plain; charset=utf-8")
        path, _, query = wanted.path.partition("?")
        headers = tuple(_headers(scope))
        call = Call(scope["method"], wanted.host, unquote(path), query, headers, intake.head)
        try:
            return served.name, served.responder.answer(call)
        except Exception as error:  # noqa: BLE001 - a defect of a mock must not look like the agent's doing
            self.crashed = self.crashed or f"GTW007 the service {served.name} failed: {error!r}"
            return served.name, Reply(500, b"Internal Server Error\n", "text/plain; charset=utf-8")

    def _note(
        self, began: float, scope: Scope, wanted: Wanted, intake: Intake, name: str, reply: Reply, error: str
    ) -> None:
        taken = intake.close()
        headers = tuple(_headers(scope))[: _MOST_HEADERS // 64]
        elsewhere = "\n".join((wanted.host, wanted.path, *(f"{key}: {value}" for key, value in headers)))
        found = dict([*self._watchlist.take(elsewhere.encode("utf-8", "surrogateescape")).sensitive, *taken.sensitive])
        self._record.write(
            Attempt(
                began=began,
                kind="http",
                host=wanted.host,
                port=wanted.port,
                taken=taken._replace(sensitive=tuple(found.items())),
                at=scope["server"][1] if scope.get("server") else 0,
                peer=scope["client"][1] if scope.get("client") else 0,
                method=scope["method"],
                path=wanted.path,
                headers=headers,
                status=reply.status,
                answered=len(reply.body),
                service=name,
                changes=_within(name, reply.changes),
                miss=f"{scope['method']} {wanted.host}{wanted.path.partition('?')[0]}" if reply.missed else "",
                error=error or taken.error,
            )
        )


def find_wanted(scope: Scope) -> Wanted:
    """Whom a request is for: by its target where that is a whole address, else by its Host header and the port."""
    raw: bytes = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
    target = raw.decode("latin-1")
    port = scope["server"][1] if scope.get("server") else 0
    if not target.startswith("/") and "://" in target:
        try:
            parts = urlsplit(target)
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            return Wanted((parts.hostname or "").lower(), parts.port or 80, path)
        except ValueError:
            return Wanted("", port, target)
    host = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1").lower()
    name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
    return Wanted(name.rstrip("."), port, target)


def _headers(scope: Scope) -> Iterator[tuple[str, str]]:
    for name, value in scope["headers"]:
        yield name.decode("latin-1"), value.decode("latin-1")


def _within(service: str, changes: tuple[ServiceChange, ...]) -> tuple[ServiceChange, ...]:
    """The changes with their objects named from the service on."""
    return tuple(one._replace(object=f"{service}/{one.object}") for one in changes)


async def _send(send: Send, reply: Reply) -> None:
    headers = [
        (b"content-type", reply.type.encode("latin-1")),
        (b"content-length", str(len(reply.body)).encode()),
        *((name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers),
    ]
    if reply.status == 204:
        headers = headers[2:]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if reply.status == 204 else reply.body})
