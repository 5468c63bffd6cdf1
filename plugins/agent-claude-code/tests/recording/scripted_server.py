"""Runs inside a network namespace of its own: a scripted model on loopback, then the real CLI against it.

Usage: scripted_server.py PLAN.json OUT. The plan: `argv`, `environment`, `files`, `home`, `workspace`, `port`, `turns`
and `subtask` (lists of lists of content blocks), `greet` and `answer` for the two-way protocol, `status` (an HTTP
status for all requests). Writes to OUT: stdout.jsonl, session.jsonl, stderr.txt, requests.jsonl, and exit.
"""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

from overeager_agent_claude_code.converse import converse

USAGE = {"input_tokens": 11, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 7}
SUBTASK = "SUBTASK"


class Scripted(http.server.BaseHTTPRequestHandler):
    """Answers `/v1/messages` with the plan's next turn; the turn is the number of assistant tool messages."""

    protocol_version = "HTTP/1.1"
    plan: dict[str, Any]
    requests: list[Any]

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.requests.append({"path": self.path, "body": body})
        if status := self.plan["status"]:
            self._send(status, {"type": "error", "error": {"type": "api_error", "message": f"scripted {status}"}})
            return
        message = {
            "id": f"msg_{uuid.uuid4().hex[:24]}", "type": "message", "role": "assistant", "model": body["model"],
            "content": self._content(body), "stop_sequence": None, "usage": USAGE,
        }  # fmt: skip
        calls = any(block["type"] == "tool_use" for block in message["content"])
        message["stop_reason"] = "tool_use" if calls else "end_turn"
        self._stream(message) if body.get("stream") else self._send(200, message)

    def _content(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        if len(body.get("tools") or []) <= 3:
            return [{"type": "text", "text": "ok"}]
        turn = sum(
            any(isinstance(block, dict) and block.get("type") == "tool_use" for block in message["content"])
            for message in body["messages"]
            if message["role"] == "assistant"
        )
        inner = SUBTASK in json.dumps(body["messages"][0])
        turns = self.plan["subtask" if inner else "turns"]
        blocks = turns[min(turn, len(turns) - 1)]
        return [
            {"id": f"toolu_{uuid.uuid4().hex[:24]}", **block} if block["type"] == "tool_use" else dict(block)
            for block in blocks
        ]

    def _send(self, status: int, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, message: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self._event("message_start", message={**message, "content": [], "stop_reason": None})
        for index, block in enumerate(message["content"]):
            if block["type"] == "text":
                start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                start = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            self._event("content_block_start", index=index, content_block=start)
            self._event("content_block_delta", index=index, delta=delta)
            self._event("content_block_stop", index=index)
        end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        self._event("message_delta", delta=end, usage={"output_tokens": 7})
        self._event("message_stop")
        self.close_connection = True

    def _event(self, kind: str, **fields: object) -> None:
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode())

    def log_message(self, *_: object) -> None:
        pass


def main(plan_path: str, out: str) -> None:
    """Serve, run, write down."""
    plan = json.loads(Path(plan_path).read_text())
    Scripted.plan, Scripted.requests = plan, []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", plan["port"]), Scripted)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name, text in plan["files"].items():
        path = Path(plan["home"], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    stdout, stderr, status = run(plan)
    sessions = sorted(Path(plan["home"], ".claude/projects").rglob("*.jsonl"))
    folder = Path(out)
    folder.joinpath("stdout.jsonl").write_bytes(stdout)
    folder.joinpath("session.jsonl").write_bytes(b"".join(path.read_bytes() + b"\n" for path in sessions))
    folder.joinpath("stderr.txt").write_bytes(stderr)
    folder.joinpath("requests.jsonl").write_text("".join(json.dumps(request) + "\n" for request in Scripted.requests))
    folder.joinpath("exit").write_text(f"{status}\n")
    server.shutdown()


def run(plan: dict[str, Any]) -> tuple[bytes, bytes, int]:
    """The CLI's output, errors and status; with `greet`, each question is answered by the plan."""
    interactive = bool(plan["greet"])
    process = subprocess.Popen(
        plan["argv"], cwd=plan["workspace"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": plan["home"], "LANG": "C.UTF-8", **plan["environment"]},
        stdin=subprocess.PIPE if interactive else subprocess.DEVNULL,
    )  # fmt: skip
    if not interactive:
        stdout, stderr = process.communicate(timeout=60)
        return stdout, stderr, process.returncode
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    for line in plan["greet"]:
        process.stdin.write(line.encode())
    process.stdin.flush()
    lines, state = [], {}
    for line in process.stdout:
        lines.append(line)
        reply = converse(line, state, plan["answer"])
        state = reply.state
        if not process.stdin.closed:
            process.stdin.writelines(reply.lines)
            process.stdin.flush()
        if reply.close:
            process.stdin.close()
    return b"".join(lines), process.stderr.read(), process.wait(timeout=60)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
