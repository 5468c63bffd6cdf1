"""Reads back what an answer of the Anthropic Messages API said, while its bytes pass."""

from __future__ import annotations

from typing import Any

from overeager.gateway.decoding import decode_json
from overeager.gateway.sse import Event, EventReader
from overeager.gateway.wire import Response, Usage

_LIMIT = 32 << 20
"""Bytes of one answer that are held to be recorded."""

_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
    "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip

_PARTS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


class AnthropicReader:
    """Assembles a message and its usage from a stream of events, or from one JSON body."""

    def __init__(self, status: int, *, stream: bool) -> None:
        self._status = status
        self._events = EventReader(_LIMIT) if stream else None
        self._body: list[bytes] = []
        self._size = 0
        self._message: dict[str, Any] | None = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._texts: dict[int, dict[str, list[str]]] = {}
        self._usage: dict[str, Any] = {}
        self._complete = False
        self._fault: int | None = None
        self._error = ""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; above the limit only the usage is read on."""
        self._size += len(chunk)
        if self._events is not None:
            for event in self._events.feed(chunk):
                self._take(event)
        elif self._size <= _LIMIT:
            self._body.append(chunk)

    def close(self) -> Response:
        """The message as far as it came; an error when it did not come whole."""
        return self._close_body() if self._events is None else self._close_stream()

    def _close_body(self) -> Response:
        raw = b"".join(self._body)
        data = _object(raw)
        if data is None:
            return Response({"raw": raw.decode("utf-8", "replace")}, Usage(), error="the answer is not JSON")
        if data.get("type") != "message":
            return Response(data, Usage(), error=_said(data) if self._status >= 400 else "")
        return Response(data, read_usage(data.get("usage")))

    def _close_stream(self) -> Response:
        error = self._error or ("" if self._complete else "the stream ended before message_stop")
        fault = self._fault or (None if self._complete else 502)
        if self._message is None:
            return Response(None, Usage(), fault, error)
        content = [self._whole_block(index) for index in sorted(self._blocks)]
        return Response({**self._message, "content": content}, read_usage(self._usage), fault, error)

    def _take(self, event: Event) -> None:
        data = _object(event.data.encode("utf-8", "replace"))
        if data is None:
            self._error = self._error or "an event of the stream is not JSON"
            return
        kind = data.get("type")
        if kind == "message_start":
            message = data.get("message")
            self._message = message if isinstance(message, dict) else {}
            self._note_usage(self._message.pop("usage", None))
        elif kind == "content_block_start":
            self._open_block(data)
        elif kind == "content_block_delta":
            self._grow_block(data)
        elif kind == "message_delta":
            delta = data.get("delta")
            if self._message is not None and isinstance(delta, dict):
                self._message.update(delta)
            self._note_usage(data.get("usage"))
        elif kind == "message_stop":
            self._complete = True
        elif kind == "error":
            error = data.get("error")
            named = error.get("type") if isinstance(error, dict) else None
            self._fault, self._error = _STATUS.get(str(named), 500), _said(data)

    def _note_usage(self, usage: object) -> None:
        if isinstance(usage, dict):
            self._usage.update({key: value for key, value in usage.items() if value is not None})

    def _open_block(self, data: dict[str, Any]) -> None:
        index, block = data.get("index"), data.get("content_block")
        if isinstance(index, int) and isinstance(block, dict):
            self._blocks[index] = block

    def _grow_block(self, data: dict[str, Any]) -> None:
        index, delta = data.get("index"), data.get("delta")
        if not isinstance(index, int) or not isinstance(delta, dict) or self._size > _LIMIT:
            return
        part = _PARTS.get(str(delta.get("type")))
        if part is not None and isinstance(delta.get(part), str):
            self._texts.setdefault(index, {}).setdefault(part, []).append(delta[part])

    def _whole_block(self, index: int) -> dict[str, Any]:
        block = dict(self._blocks[index])
        for part, pieces in self._texts.get(index, {}).items():
            text = "".join(pieces)
            if part == "partial_json":
                block["input"] = _input(text)
            else:
                before = block.get(part)
                block[part] = (before if isinstance(before, str) else "") + text
        return block


def read_usage(usage: object) -> Usage:
    """Token counts out of a vendor's `usage` object; what is not a count is 0."""
    if not isinstance(usage, dict):
        return Usage()
    hour = _count(_dict(usage.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    written = _count(usage.get("cache_creation_input_tokens"))
    return Usage(
        input=_count(usage.get("input_tokens")),
        output=_count(usage.get("output_tokens")),
        cache_read=_count(usage.get("cache_read_input_tokens")),
        cache_write=max(0, written - hour),
        cache_write_hour=hour,
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = decode_json(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _input(text: str) -> object:
    if not text:
        return {}
    value = _object(text.encode("utf-8", "surrogatepass"))
    return {"partial_json": text} if value is None else value


def _said(data: dict[str, Any]) -> str:
    error = _dict(data.get("error"))
    return f"{error.get('type', 'error')}: {error.get('message', '')}"
