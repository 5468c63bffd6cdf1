"""The Anthropic Messages API: requests read, answers rendered, errors in the vendor's shape."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from overeager import canonical
from overeager.contract.agent import JsonObject, WireApi
from overeager.gateway.anthropic_reader import AnthropicReader
from overeager.gateway.decoding import decode_json
from overeager.gateway.wire import Malformed, Message, ModelRequest, Text, ToolCall, Usage

_ERRORS = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 415: "invalid_request_error", 429: "rate_limit_error",
    500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}  # fmt: skip

_BYTES_PER_TOKEN = 4
_READ_APART = ("model", "stream", "system", "messages", "tools")


class AnthropicMessages:
    """`POST /v1/messages`, streaming or not, and what stands around it."""

    api: ClassVar[WireApi] = "anthropic-messages"
    exchange_path: ClassVar[str] = "/v1/messages"
    count_path: ClassVar[str] = "/v1/messages/count_tokens"

    def parse(self, body: bytes) -> ModelRequest:
        """Read a request as strictly as the API: raises Malformed with its words."""
        data = _decode(body)
        model, messages = data.get("model"), data.get("messages")
        if not isinstance(model, str):
            raise Malformed("model: Field required")
        if not isinstance(messages, list) or not messages:
            raise Malformed("messages: at least one message is required")
        for place, message in enumerate(messages):
            if not _is_message(message):
                raise Malformed(f"messages.{place}: Input should be a valid message")
        tool_turns, answers = _position(messages)
        return ModelRequest(
            body=data,
            model=model,
            stream=data.get("stream") is True,
            system=data.get("system"),
            messages=tuple(messages),
            tools=data.get("tools"),
            other={key: value for key, value in data.items() if key not in _READ_APART},
            offered_tools=_tool_names(data.get("tools")),
            tool_turns=tool_turns,
            answers=answers,
        )

    def count(self, request: ModelRequest) -> int:
        """One token for each four bytes of canonical JSON of system prompt, messages and tools, rounded up."""
        parts = [part for part in (request.system, request.messages, request.tools) if part is not None]
        return _tokens(sum(len(canonical.dump(part)) for part in parts))

    def render(self, message: Message, request: ModelRequest) -> tuple[bytes, ...]:
        """The events of a stream, or one JSON body; output tokens are estimated as in `count`."""
        content = [_block(block) for block in message.blocks]
        usage = Usage(self.count(request), _tokens(len(canonical.dump(content))))
        stop = "tool_use" if any(isinstance(block, ToolCall) for block in message.blocks) else "end_turn"
        envelope: dict[str, Any] = {
            "id": f"msg_01{secrets.token_hex(11)}",
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": _usage(usage),
        }
        return tuple(_stream(envelope)) if request.stream else (_json(envelope),)

    def counted(self, tokens: int) -> bytes:
        """The answer of the token counter."""
        return _json({"input_tokens": tokens})

    def models(self) -> bytes:
        """An empty page of models."""
        return _json({"data": [], "has_more": False, "first_id": None, "last_id": None})

    def refuse(self, status: int, message: str, request_id: str) -> bytes:
        """An error body; a status that the API does not know is an `api_error`."""
        error = {"type": _ERRORS.get(status, "api_error"), "message": message}
        return _json({"type": "error", "error": error, "request_id": request_id})

    def reader(self, status: int, content_type: str) -> AnthropicReader:
        """A reader of streams or of whole JSON bodies, by content type."""
        return AnthropicReader(status, stream=content_type.startswith("text/event-stream"))


def _decode(body: bytes) -> dict[str, Any]:
    try:
        data = decode_json(body)
    except ValueError as error:
        raise Malformed("The request body is not valid JSON") from error
    if not isinstance(data, dict):
        raise Malformed("Input should be a valid dictionary")
    return data


def _is_message(message: object) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return False
    content = message.get("content")
    return isinstance(content, str) or (isinstance(content, list) and all(isinstance(block, dict) for block in content))


def _holds(message: JsonObject, kind: str) -> bool:
    content = message["content"]
    if isinstance(content, str):
        return kind == "text"
    return any(block.get("type") == kind for block in content)


def _position(messages: list[dict[str, Any]]) -> tuple[int, int]:
    """(assistant messages with a tool call, the user's replies to later assistant messages without one)."""
    turns, answers, open_question = 0, 0, False
    for message in messages:
        if message["role"] == "assistant":
            if _holds(message, "tool_use"):
                turns, answers, open_question = turns + 1, 0, False
            else:
                open_question = True
        elif open_question and _holds(message, "text"):
            answers, open_question = answers + 1, False
    return turns, answers


def _tool_names(tools: object) -> tuple[str, ...]:
    if not isinstance(tools, list):
        return ()
    return tuple(tool["name"] for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str))


def _block(block: Text | ToolCall) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    return {"type": "tool_use", "id": block.id, "name": block.tool.name, "input": dict(block.tool.arguments)}


def _tokens(size: int) -> int:
    return -(-size // _BYTES_PER_TOKEN)


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": usage.output,
    }


def _stream(envelope: Mapping[str, Any]) -> Iterator[bytes]:
    usage = {**envelope["usage"], "output_tokens": 1}
    start = {**envelope, "content": [], "stop_reason": None, "usage": usage}
    yield _event("message_start", message=start)
    yield _event("ping")
    for index, block in enumerate(envelope["content"]):
        yield from _block_events(index, block)
    delta = {"stop_reason": envelope["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage={"output_tokens": envelope["usage"]["output_tokens"]})
    yield _event("message_stop")


def _block_events(index: int, block: Mapping[str, Any]) -> Iterator[bytes]:
    if block["type"] == "text":
        empty, deltas = {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    else:
        text = json.dumps(block["input"], ensure_ascii=False)
        middle = len(text) // 2
        empty = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in (text[:middle], text[middle:])]
    yield _event("content_block_start", index=index, content_block=empty)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: object) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + _json({"type": kind, **fields}) + b"\n\n"


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
