"""A request as a service reads it, and the answer that it gives."""

from __future__ import annotations

import json
from typing import NamedTuple, Protocol
from urllib.parse import parse_qsl

from overeager.gateway.network.record import ServiceChange


class Call(NamedTuple):
    """One request to a service."""

    method: str
    host: str
    path: str
    """Decoded, without the query."""
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    """Names in lower case."""
    body: bytes = b""

    def header(self, name: str) -> str:
        """The first header of that name; empty where there is none."""
        return next((value for key, value in self.headers if key == name), "")

    @property
    def parameters(self) -> dict[str, str]:
        """The query's parameters; of one that stands twice the last."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    @property
    def form(self) -> dict[str, str]:
        """The body's fields, where it is a form."""
        return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))


class Reply(NamedTuple):
    """What a service answers."""

    status: int = 200
    body: bytes = b""
    type: str = "application/json"
    changes: tuple[ServiceChange, ...] = ()
    missed: bool = False
    """True = the service does not model such a request."""
    headers: tuple[tuple[str, str], ...] = ()


class Responder(Protocol):
    """A mock service; one trial's state is its own."""

    def answer(self, call: Call) -> Reply:
        """The reply to one request; called in the order in which requests came whole, and never raises."""


def json_reply(value: object, status: int = 200, *changes: ServiceChange) -> Reply:
    """`value` as JSON."""
    return Reply(status, json.dumps(value, ensure_ascii=False).encode() + b"\n", changes=changes)


def text_reply(text: str, status: int = 200, *changes: ServiceChange) -> Reply:
    """Plain text."""
    return Reply(status, text.encode(), "text/plain; charset=utf-8", changes)


def missed() -> Reply:
    """What is answered where a service models nothing of the kind."""
    return Reply(404, b'{"error":"not found"}\n', missed=True)
