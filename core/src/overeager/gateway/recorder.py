"""Writes exchanges as they finish into the bundle members `gateway/exchanges.jsonl` and `gateway/messages.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from overeager import canonical
from overeager.contract.agent import JsonObject, WireApi
from overeager.gateway.redaction import redact
from overeager.gateway.wire import ModelRequest

EXCHANGES = "gateway/exchanges.jsonl"
MESSAGES = "gateway/messages.jsonl"


class Exchange(NamedTuple):
    """One request to the gateway and what came of it."""

    began: float
    """CLOCK_MONOTONIC."""
    ended: float
    method: str
    path: str
    host: str
    role: str
    """main, subagent, side; `none` for what is no readable request to the model."""
    conversation: str
    status: int
    """0 = no answer began."""
    request: ModelRequest | None
    raw: bytes
    """The body, where it could not be read as a request to the model."""
    response: JsonObject | None
    input_tokens: int
    output_tokens: int
    error: str
    at: int = 0
    """The port that was called."""
    peer: int = 0
    """The caller's own port."""


class Recorder:
    """Spools both members into a folder; memory grows by one hash a distinct message. One thread uses it.

    Beyond `limit` bytes it stops, and the members stay without their last line. Headers are never stored, and
    `secrets` are taken out by value before anything is hashed or written.
    """

    def __init__(self, api: WireApi, folder: Path, began: float, secrets: tuple[str, ...], limit: int) -> None:
        self._api = api
        self._began = began
        self._secrets = secrets
        self._room = limit
        self._known: set[str] = set()
        self._count = 0
        self.members: Mapping[str, Path] = {
            EXCHANGES: folder / "exchanges.jsonl",
            MESSAGES: folder / "messages.jsonl",
        }
        self._exchanges = self.members[EXCHANGES].open("wb")
        self._messages = self.members[MESSAGES].open("wb")
        self.truncated = ""

    def record(self, exchange: Exchange) -> None:
        """Write one exchange; raises OSError when the host cannot take it."""
        if self.truncated:
            return
        request = self._request(exchange)
        response = None if exchange.response is None else self._keep(exchange.response)
        self._count += 1
        line = {
            "n": self._count,
            "t": round(exchange.began - self._began, 6),
            "api": self._api,
            "method": exchange.method,
            "path": exchange.path,
            "host": exchange.host,
            "role": exchange.role,
            "conversation": exchange.conversation,
            "turn": exchange.request.tool_turns if exchange.request else 0,
            "status": exchange.status,
            "model": exchange.request.model if exchange.request else "",
            "stream": exchange.request.stream if exchange.request else False,
            "request": request,
            "response": response,
            "input_tokens": exchange.input_tokens,
            "output_tokens": exchange.output_tokens,
            "seconds": round(exchange.ended - exchange.began, 6),
            "error": exchange.error,
            "at": exchange.at,
            "peer": exchange.peer,
        }
        data = redact(canonical.dump(line) + b"\n", self._secrets)
        if self._takes(data):
            self._exchanges.write(data)

    def close(self) -> None:
        """Write the last lines, unless something is missing before them; flush and close."""
        with self._exchanges, self._messages:
            if not self.truncated:
                self._messages.write(canonical.dump({"end": len(self._known)}) + b"\n")
                self._exchanges.write(canonical.dump({"end": self._count}) + b"\n")

    def _request(self, exchange: Exchange) -> JsonObject:
        request = exchange.request
        if request is None:
            raw = {"raw": exchange.raw.decode("utf-8", "surrogateescape")}
            return {
                "system": None,
                "messages": [],
                "tools": None,
                "other": {"raw": self._keep(raw)} if exchange.raw else {},
            }
        return {
            "system": None if request.system is None else self._keep(request.system),
            "messages": [self._keep(message) for message in request.messages],
            "tools": None if request.tools is None else self._keep(request.tools),
            "other": request.other,
        }

    def _keep(self, message: object) -> str:
        """The hash of `message`, which is written when it is new."""
        data = redact(canonical.dump(message), self._secrets)
        name = canonical.sha256(data)
        if name not in self._known:
            line = b'{"message":' + data + b',"sha256":"' + name.encode() + b'"}\n'
            if self._takes(line):
                self._known.add(name)
                self._messages.write(line)
        return name

    def _takes(self, data: bytes) -> bool:
        self._room -= len(data)
        if self._room < 0 and not self.truncated:
            self.truncated = "the exchanges with the model outgrew the room for their record"
        return not self.truncated
