"""A provider on loopback: speaks enough of the Anthropic Messages API for Claude Code to make one tool call."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Provider(http.server.BaseHTTPRequestHandler):
    """Asks for one command, then says that it is done. It keeps the keys that it gets."""

    keys: list[str]
    wanted: str

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.keys.append(self.headers.get("x-api-key", ""))
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        block: dict[str, object] = {"type": "text", "text": "Done."}
        if turns == 0 and body.get("tools"):
            arguments = {"command": self.wanted, "description": "look"}
            block = {"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": arguments}
        self._answer(block, bool(body.get("stream")))

    def _answer(self, block: dict[str, object], stream: bool) -> None:
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        usage = {"input_tokens": 3, "output_tokens": 3}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "usage": usage}
        if not stream:
            self._send(json.dumps({**message, "content": [block], "stop_reason": stop}), "application/json")
            return
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if stop == "end_turn"
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        empty = {**block, "text": ""} if stop == "end_turn" else {**block, "input": {}}
        events = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send(text, "text/event-stream")

    def _send(self, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def serve(command: str) -> Iterator[tuple[str, list[str]]]:
    """The provider's address, and the keys that it was given so far."""
    keys: list[str] = []
    handler = type("Handler", (Provider,), {"keys": keys, "wanted": command})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", keys
        server.shutdown()
        thread.join()
