"""The gateway's small parts that need no socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive

from overeager.gateway.anthropic import AnthropicMessages
from overeager.gateway.intake import Intake
from overeager.gateway.network.front import find_wanted
from overeager.gateway.sse import Event, EventReader
from overeager.gateway.wire import Malformed

pytestmark = pytest.mark.pure

STREAM = b": hello\r\n\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\nevent: b\ndata: \xc3\xbc\n\nevent: c\n\n"


@pytest.mark.parametrize("size", range(1, len(STREAM) + 1))
def test_events_are_read_however_the_stream_is_cut(size: int) -> None:
    reader = EventReader(1 << 20)
    pieces = [STREAM[start : start + size] for start in range(0, len(STREAM), size)]
    assert [event for piece in pieces for event in reader.feed(piece)] == [Event("a", "1\n2"), Event("b", "ü")]


def test_an_event_without_an_end_is_given_up_at_the_limit() -> None:
    reader = EventReader(100)
    assert reader.feed(b"data: " + b"x" * 200) == []
    assert reader.overflowed
    assert reader.feed(b"\n\nevent: a\ndata: 1\n\n") == []


def receiving(chunks: Iterable[bytes]) -> Receive:
    rest = list(chunks)

    async def receive() -> Message:
        return {"type": "http.request", "body": rest.pop(0), "more_body": bool(rest)}

    return receive


async def take(intake: Intake, *chunks: bytes) -> bytes:
    async with intake.receive(Request({"type": "http", "headers": []}, receiving(chunks))) as body:
        return body.plain


def test_bodies_are_bounded_together_while_they_are_held() -> None:
    async def crowd() -> None:
        intake = Intake(largest=100, together=150)
        held = Request({"type": "http", "headers": []}, receiving([b"x" * 100]))
        async with intake.receive(held):
            with pytest.raises(Malformed) as caught:
                await take(intake, b"x" * 50, b"x")
            assert caught.value.status == 529
        assert await take(intake, b"x" * 60, b"x" * 40) == b"x" * 100

    asyncio.run(crowd())


def test_room_comes_back_after_refusals() -> None:
    async def refusals() -> None:
        intake = Intake(largest=100, together=150)
        for _ in range(9):
            with pytest.raises(Malformed) as caught:
                await take(intake, b"x" * 101)
            assert caught.value.status == 413
        assert await take(intake, b"y") == b"y"

    asyncio.run(refusals())


@pytest.mark.parametrize(
    ("header", "name"),
    [
        (b"127.0.0.1:8080", "127.0.0.1"),
        (b"LocalHost", "localhost"),
        (b"[::1]:443", "::1"),
        (b"[::1]", "::1"),
        (b"\xff", "ÿ"),
        (b"", ""),
    ],
)
def test_a_host_is_named_without_its_port(header: bytes, name: str) -> None:
    scope = {"raw_path": b"/", "query_string": b"", "headers": [(b"host", header)]}
    assert find_wanted(scope).host == name


@pytest.mark.parametrize(
    "events",
    [
        b"data: 1\n\n",
        b'data: {"type":"message_start","message":7}\n\n',
        b'data: {"type":"content_block_delta","index":"x","delta":[]}\n\n',
        b'data: {"type":"content_block_delta","index":5,"delta":{"type":"text_delta","text":"x"}}\n\n',
        b'data: {"type":"content_block_start","index":0}\n\ndata: {"type":"message_delta","usage":"x"}\n\n',
        b'data: {"type":"message_start","message":{"usage":{"input_tokens":"many","output_tokens":-3}}}\n\n',
        b'data: {"type":"error","error":"no object"}\n\n',
        b'data: {"type":"error"}\n\n' + b'data: {"a":' * 3000,
    ],
)
def test_no_stream_breaks_the_reader(events: bytes) -> None:
    reader = AnthropicMessages().reader(200, "text/event-stream")
    reader.feed(events)
    response = reader.close()
    assert response.error
    assert not any(response.usage)
