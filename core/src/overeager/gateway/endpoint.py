"""The model's side of the gateway: one ASGI application that asks an upstream and records what passed."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import NamedTuple, TypeAlias

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from overeager.contract.agent import Classified, JsonObject
from overeager.errors import OvereagerError
from overeager.gateway.asgi import close_chunks, each, read_inquiry, while_connected
from overeager.gateway.course import Course
from overeager.gateway.intake import Intake
from overeager.gateway.ledger import Ledger
from overeager.gateway.recorder import Recorder
from overeager.gateway.upstream import Asked, Upstream
from overeager.gateway.wire import Answer, Cut, Headers, Malformed, Message, ModelRequest, Refusal, Relay, Wire

Classify: TypeAlias = Callable[[JsonObject], Classified]
Ask: TypeAlias = Callable[[Course], Awaitable[Answer]]

_JSON = ("content-type", "application/json")
_EVENTS = ("content-type", "text/event-stream; charset=utf-8")
_HOLD = ("x-should-retry", "false")
_BUDGET = "Your credit balance is too low to access the API."


class Outgoing(NamedTuple):
    """An answer ready to be sent."""

    status: int
    headers: Headers
    chunks: AsyncIterator[bytes]


class ModelEndpoint:
    """What answers under the model's own host names."""

    def __init__(self, wire: Wire, upstream: Upstream, classify: Classify, recorder: Recorder, ledger: Ledger) -> None:
        self._wire = wire
        self._upstream = upstream
        self._classify = classify
        self._recorder = recorder
        self._ledger = ledger
        self._intake = Intake()
        self._asks: Mapping[tuple[str, str], Ask] = {
            ("POST", wire.exchange_path): self._exchange,
            ("POST", wire.count_path): self._count,
            ("GET", "/v1/models"): self._models,
            ("HEAD", "/"): self._hello,
            ("HEAD", "/api/hello"): self._hello,
            ("GET", "/api/hello"): self._hello,
        }
        self.crashed = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request and record it, whatever becomes of it."""
        ask = self._asks.get((scope["method"], scope["path"]), self._turn_away)
        await self._run(Request(scope, receive), send, ask)

    async def stray(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Record and turn away a request for a host that nobody here plays."""
        await self._run(Request(scope, receive), send, self._turn_away)

    async def _run(self, request: Request, send: Send, ask: Ask) -> None:
        at, peer = (request.scope.get(end) or ("", 0) for end in ("server", "client"))
        course = Course(read_inquiry(request), request.headers.get("host", ""), at[1] or 0, peer[1])
        try:
            await self._serve(course, request, send, ask)
        except ClientDisconnect:
            course.break_off("the client left")
        except asyncio.CancelledError:
            course.break_off("stopped before the answer was out")
            raise
        except Cut:
            raise  # the server then closes the connection without the answer's end, as the provider did
        except Exception as error:
            self._crash(course, f"GTW005 the gateway failed: {error!r}")
            raise
        finally:
            self._conclude(course)

    async def _serve(self, course: Course, request: Request, send: Send, ask: Ask) -> None:
        try:
            async with self._intake.receive(request) as body:
                course.raw = body.plain
                course.inquiry = course.inquiry._replace(body=body.sent)
                answer = await while_connected(ask(course), request.receive)
                await self._deliver(course, answer, request, send)
        except Malformed as error:
            await self._deliver(course, Refusal(error.status, str(error)), request, send)

    async def _exchange(self, course: Course) -> Answer:
        request = course.request = self._wire.parse(course.raw)
        course.raw = b""
        self._ledger.exchanges += 1
        try:
            course.classified = self._classify(request.body)
            if self._ledger.admits():
                return await self._upstream.answer(Asked(course.inquiry, request, course.classified))
        except OvereagerError as error:
            return self._crash(course, f"{error.code} {error.what}")
        except Exception as error:  # noqa: BLE001 - an adapter is a stranger's code; its defect must not look like the agent's
            return self._crash(course, f"GTW005 the adapter or the upstream failed: {error!r}")
        course.break_off("the budget is used up")
        return Refusal(402, _BUDGET, (_HOLD,))

    async def _count(self, course: Course) -> Answer:
        request = self._wire.parse(course.raw)
        return await self._upstream.look_up(course.inquiry) or plain(self._wire.counted(self._wire.count(request)))

    async def _models(self, course: Course) -> Answer:
        return await self._upstream.look_up(course.inquiry) or plain(self._wire.models())

    async def _hello(self, course: Course) -> Answer:
        return plain(b'{"message":"hello"}')

    async def _turn_away(self, course: Course) -> Answer:
        return Refusal(404, "Not found")

    def _crash(self, course: Course, what: str) -> Refusal:
        self.crashed = self.crashed or what
        course.break_off(what)
        return Refusal(500, "Internal server error")

    async def _deliver(self, course: Course, answer: Answer, request: Request, send: Send) -> None:
        if isinstance(answer, Message):
            self._ledger.note_unplayable(answer.unplayable)
        if isinstance(answer, Refusal):
            course.error = course.error or answer.message
        await while_connected(self._send(course, self._outgoing(answer, course.request), send), request.receive)

    def _outgoing(self, answer: Answer, request: ModelRequest | None) -> Outgoing:
        request_id = f"req_01{secrets.token_hex(11)}"
        identity = ("request-id", request_id)
        if isinstance(answer, Relay):
            return Outgoing(*answer)
        if isinstance(answer, Refusal):
            body = self._wire.refuse(answer.status, answer.message, request_id)
            return Outgoing(answer.status, (_JSON, _length(body), identity, *answer.headers), each((body,)))
        if request is None:
            raise TypeError("only a request to the model is answered with a message")
        chunks = self._wire.render(answer, request)
        shape = (_EVENTS, ("cache-control", "no-cache")) if request.stream else (_JSON, _length(chunks[0]))
        return Outgoing(200, (*shape, identity), each(chunks))

    async def _send(self, course: Course, outgoing: Outgoing, send: Send) -> None:
        content_type = next((value for name, value in outgoing.headers if name.lower() == "content-type"), "")
        reader = self._wire.reader(outgoing.status, content_type)
        course.status = outgoing.status
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in outgoing.headers]
        try:
            await send({"type": "http.response.start", "status": outgoing.status, "headers": headers})
            async for chunk in outgoing.chunks:
                reader.feed(chunk)
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except Cut as error:
            course.cut_short(str(error))
            raise
        finally:
            course.response = reader.close()
            await close_chunks(outgoing.chunks)

    def _conclude(self, course: Course) -> None:
        course.enter(self._ledger, remote=self._upstream.remote)
        try:
            self._recorder.record(course.exchange())
        except (OSError, ValueError) as error:
            self.crashed = self.crashed or f"GTW006 the record of the exchanges could not be written: {error}"


def plain(body: bytes) -> Relay:
    """A JSON body with status 200."""
    return Relay(200, (_JSON, _length(body)), each((body,)))


def _length(body: bytes) -> tuple[str, str]:
    return ("content-length", str(len(body)))
