"""What the gateway's parts say to each other: requests, answers and the promise of a wire API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import ClassVar, NamedTuple, Protocol, TypeAlias

from overeager.contract.agent import JsonObject, ToolUse, WireApi
from overeager.model.persona import StepKind

Headers: TypeAlias = tuple[tuple[str, str], ...]


class ModelRequest(NamedTuple):
    """A request to the model, read far enough to record it and to know where in the script it stands."""

    body: JsonObject
    model: str
    stream: bool
    system: object
    """None = it has none."""
    messages: tuple[object, ...]
    tools: object
    other: JsonObject
    """All that is neither model, stream, system, messages nor tools."""
    offered_tools: tuple[str, ...]
    tool_turns: int
    """Assistant messages that hold a tool call."""
    answers: int
    """Replies of the user since the last tool call to an assistant message without one."""


class Usage(NamedTuple):
    """Tokens of one exchange; the vendor's figures, or an estimate for a scripted answer."""

    input: int = 0
    """Neither written to the vendor's cache nor read from it."""
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    """Kept for five minutes."""
    cache_write_hour: int = 0

    @property
    def prompt(self) -> int:
        """All tokens that went in, cached or not."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_hour


class Text(NamedTuple):
    """Words of the model."""

    text: str


class ToolCall(NamedTuple):
    """A call of one of the agent's tools."""

    id: str
    tool: ToolUse


class Unplayable(NamedTuple):
    """A persona's step that no offered tool can do."""

    place: int
    """Index in the persona, from 0."""
    kind: StepKind


class Message(NamedTuple):
    """A scripted answer; it ends the turn unless it holds a tool call."""

    blocks: tuple[Text | ToolCall, ...]
    unplayable: tuple[Unplayable, ...] = ()


class Refusal(NamedTuple):
    """An error, told in the vendor's shape."""

    status: int
    message: str
    headers: Headers = ()


class Relay(NamedTuple):
    """Bytes handed through as they come; `chunks` raises `Cut` when they break off."""

    status: int
    headers: Headers
    chunks: AsyncIterator[bytes]


Answer: TypeAlias = Message | Refusal | Relay


class Cut(Exception):
    """An answer broke off: the client's connection is to be cut as well. `str()` says why."""


class Malformed(Exception):
    """A request that the API would refuse; `str()` is what it would say."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Response(NamedTuple):
    """What an answer's bytes say, read back from what was really sent."""

    message: JsonObject | None
    """None = nothing came."""
    usage: Usage
    fault: int | None = None
    """The status that an error inside a stream stands for."""
    error: str = ""


class ResponseReader(Protocol):
    """Reads one answer as it passes; bounded in memory, never raises."""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""

    def close(self) -> Response:
        """What was read; called once, also after a cut."""


class Wire(Protocol):
    """A vendor's wire API. Pure: no state between requests."""

    api: ClassVar[WireApi]
    exchange_path: ClassVar[str]
    """Where the model is asked."""
    count_path: ClassVar[str]
    """Where tokens are counted."""

    def parse(self, body: bytes) -> ModelRequest:
        """Read a request; raises Malformed."""

    def count(self, request: ModelRequest) -> int:
        """Estimated input tokens."""

    def render(self, message: Message, request: ModelRequest) -> tuple[bytes, ...]:
        """A scripted answer as the client asked for it: the events of a stream, or one JSON body."""

    def counted(self, tokens: int) -> bytes:
        """The body that tells a count of tokens."""

    def models(self) -> bytes:
        """The body that lists models."""

    def refuse(self, status: int, message: str, request_id: str) -> bytes:
        """An error body in the vendor's shape."""

    def reader(self, status: int, content_type: str) -> ResponseReader:
        """A reader for an answer with this status and content type."""
