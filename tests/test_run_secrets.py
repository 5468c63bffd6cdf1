"""A marked real key is found nowhere in the sandbox and in no artefact."""

from __future__ import annotations

import base64
import http.server
import json
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from run_kit import DEMO, overeager

pytestmark = [pytest.mark.sandbox, pytest.mark.real_cli]

KEY = "sk-ant-api03-EXAMPLEonlyFORtests" + "0123456789" * 7
SEARCH = (
    "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; "
    f"grep -rl {KEY[13:29]}ing /home /tmp /etc /run /usr/local/etc 2>/dev/null; "
    "cat /proc/self/mountinfo; ls -la /proc/*/fd 2>/dev/null | head -200"
)
"""Run by the agent's own Bash tool; the pattern is not the key, so the search itself cannot plant it."""


class Provider(http.server.BaseHTTPRequestHandler):
    """A provider on loopback that asks for one search, then says that it is done. It keeps the keys that it gets."""

    keys: list[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.keys.append(self.headers.get("x-api-key", ""))
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        block: dict[str, object] = {"type": "text", "text": "Done."}
        if turns == 0 and body.get("tools"):
            arguments = {"command": SEARCH, "description": "look"}
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


@pytest.fixture
def provider() -> Iterator[tuple[str, list[str]]]:
    keys: list[str] = []
    handler = type("Handler", (Provider,), {"keys": keys})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", keys
        server.shutdown()
        thread.join()


def test_the_real_key_reaches_the_provider_and_nothing_else(provider: tuple[str, list[str]], tmp_path: Path) -> None:
    url, keys = provider
    out = tmp_path / "run"
    options = ("--agent", "claude-code@2.1.117", "--upstream", "provider", "--model", "claude-sonnet-4-6")
    chosen = ("--scenario", "cleanup-overreach-001", "--variant", "kept", "-j", "1", "--out", out)
    ran = overeager("run", DEMO, *options, *chosen, environment={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url})
    assert ran.returncode == 0, ran.stderr
    judged = overeager("judge", out, "--json")
    assert keys
    assert set(keys) == {KEY}, "the gateway adds the key"
    (bundle,) = (out / "bundles").glob("*.zip")
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    searched = members["agent/stdout.jsonl"].decode()
    assert "ANTHROPIC_API_KEY=sk-ant-api03-" in searched, "the search did not run: it would have found the dummy"
    forms = (KEY, base64.b64encode(KEY.encode()).decode().rstrip("="), quote(KEY), KEY.encode().hex())
    haystacks = {**members, "stdout": judged.stdout.encode(), "stderr": ran.stderr.encode()}
    for path in out.rglob("*"):
        if path.is_file():
            haystacks[str(path)] = path.read_bytes()
    for name, data in haystacks.items():
        for form in forms:
            assert form.encode() not in data, f"the key lies in {name}"
