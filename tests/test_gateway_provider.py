"""Pass-through to a real API, played by a second server on this machine that shows what it was sent."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from overeager.contract.agent import Classified
from overeager.contract.effects import Listener
from overeager.errors import OvereagerError
from overeager.gateway.anthropic import AnthropicMessages
from overeager.gateway.ledger import Budget, GatewayLog
from overeager.gateway.prices import load_prices
from overeager.gateway.provider import Provider, keyed_headers
from overeager.gateway.redaction import StreamRedactor
from overeager.gateway.server import Gateway
from overeager.gateway.wire import Usage

REAL = "sk-ant-api03-THE-REAL-ONE-7f3a9c"
DUMMY = "sk-ant-dummy-0000"
REQUEST = {"model": "claude-sonnet-4-6", "stream": True, "messages": [{"role": "user", "content": "hi"}]}

STREAM = "".join(
    f"event: {data['type']}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
    for data in (
        {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "role": "assistant",
                "content": [],
                "usage": {
                    "input_tokens": 1000,
                    "cache_read_input_tokens": 200,
                    "cache_creation_input_tokens": 50,
                    "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30},
                    "output_tokens": 1,
                },
            },
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm – "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "name": "Bash", "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"com'}},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": 'mand":"ü"}'},
        },
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 500}},
        {"type": "message_stop"},
    )
).encode()


class Play(NamedTuple):
    """What the second server answers."""

    body: bytes = STREAM
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "text/event-stream; charset=utf-8"),)
    announced: int | None = None
    """Content-Length, when it is to be a lie."""


class Api(ThreadingHTTPServer):
    """A server that notes what it is sent and plays what it is told."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.play = Play()
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.raw_headers = ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Api

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"] or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.raw_headers += str(self.headers)
        self.server.seen.append((self.command, self.path, headers, body))
        play = self.server.play
        self.send_response_only(play.status)
        self.send_header("content-length", str(len(play.body) if play.announced is None else play.announced))
        for name, value in play.headers:
            self.send_header(name, value)
        self.end_headers()
        for start in range(0, len(play.body), 37):  # pieces that cut events and characters anywhere
            self.wfile.write(play.body[start : start + 37])
        self.close_connection = play.announced is not None

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Served(NamedTuple):
    gateway: Gateway
    url: str

    def ask(self, body: object = None, path: str = "/v1/messages?beta=true", **headers: str) -> httpx.Response:
        data = body if isinstance(body, bytes) else json.dumps(REQUEST if body is None else body).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()} or {"x-api-key": DUMMY}
        return httpx.post(self.url + path, content=data, headers=names, trust_env=False, timeout=60)

    def stop(self) -> tuple[GatewayLog, list[dict[str, Any]], dict[str, Any]]:
        log = self.gateway.stop()
        exchanges, messages = (
            [json.loads(line) for line in path.read_bytes().splitlines()] for path in log.members.values()
        )
        return log, exchanges[:-1], {line["sha256"]: line["message"] for line in messages[:-1]}


Serve = Callable[..., Served]


@pytest.fixture
def serve(api: Api, tmp_path: Path) -> Iterator[Serve]:
    running = []

    def start(base_url: str | None = None, **more: Any) -> Served:
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        provider = Provider(base_url or f"http://127.0.0.1:{api.server_port}", REAL)
        gateway = Gateway(
            AnthropicMessages(),
            provider,
            lambda _: Classified("main", "main"),
            spool=tmp_path,
            began=time.monotonic(),
            **more,
        )
        running.append(gateway)
        gateway.start([Listener(port, listening)])
        return Served(gateway, f"http://127.0.0.1:{port}")

    yield start
    for gateway in running:
        gateway.stop()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_bytes_pass_unchanged_both_ways(serve: Serve, api: Api) -> None:
    served = serve()
    body = (
        b' { "stream":true,  "model":"claude-sonnet-4-6","messages":[{"role":"user","content":"\\u00fc \xc3\xbc"}] } '
    )
    answer = served.ask(body)
    assert answer.content == STREAM
    method, path, _, sent = api.seen[0]
    assert (method, path, sent) == ("POST", "/v1/messages?beta=true", body)


def test_a_packed_body_is_handed_on_packed(serve: Serve, api: Api) -> None:
    served = serve()
    body = gzip.compress(json.dumps(REQUEST).encode())
    assert served.ask(body, content_encoding="gzip", x_api_key=DUMMY).content == STREAM
    assert api.seen[0][3] == body
    assert api.seen[0][2]["content-encoding"] == "gzip"


def test_the_real_key_takes_the_place_of_the_dummy(serve: Serve, api: Api) -> None:
    served = serve()
    served.ask(x_api_key=DUMMY, anthropic_version="2023-06-01", anthropic_beta="a,b")
    served.ask(authorization=f"Bearer {DUMMY}")
    by_key, by_token = (headers for _, _, headers, _ in api.seen)
    assert (by_key["x-api-key"], by_key.get("authorization")) == (REAL, None)
    assert (by_token["authorization"], by_token.get("x-api-key")) == (f"Bearer {REAL}", None)
    assert (by_key["anthropic-version"], by_key["anthropic-beta"]) == ("2023-06-01", "a,b")
    assert DUMMY not in api.raw_headers
    assert api.raw_headers.count(REAL) == 2
    added_by_client = {"host", "accept", "user-agent", "connection", "content-length"}
    assert set(by_key) <= added_by_client | {"accept-encoding", "x-api-key", "anthropic-version", "anthropic-beta"}


def test_a_request_without_a_key_gets_one() -> None:
    assert keyed_headers((("Accept", "*/*"), ("Cookie", "a=b")), "k") == (("Accept", "*/*"), ("x-api-key", "k"))


def test_the_answer_is_recorded_as_it_was_meant_and_its_tokens_counted(serve: Serve) -> None:
    served = serve()
    served.ask()
    log, exchanges, messages = served.stop()
    content = messages[exchanges[0]["response"]]["content"]
    assert content == [
        {"type": "thinking", "thinking": "Hm – ", "signature": "c2ln"},
        {"type": "tool_use", "name": "Bash", "input": {"command": "ü"}},
    ]
    assert (log.input_tokens, log.output_tokens) == (1250, 500)
    assert (exchanges[0]["input_tokens"], exchanges[0]["output_tokens"], exchanges[0]["error"]) == (1250, 500, "")
    assert log.cost == pytest.approx((1000 * 3 + 500 * 15 + 200 * 0.30 + 20 * 3.75 + 30 * 6) / 1e6)


def test_the_key_is_in_no_answer_and_no_record_though_the_api_repeats_it(serve: Serve, api: Api) -> None:
    error = {"type": "error", "error": {"type": "authentication_error", "message": f"invalid x-api-key {REAL}"}}
    api.play = Play(json.dumps(error).encode(), 401, (("content-type", "application/json"), ("x-debug", REAL)))
    served = serve()
    told = {"role": "user", "content": f"my key is {REAL}"}
    answer = served.ask({**REQUEST, "messages": [told], "metadata": {"user_id": REAL}}, path=f"/v1/messages?k={REAL}")
    assert answer.status_code == 401
    assert REAL not in answer.text + repr(answer.headers)
    log, exchanges, messages = served.stop()
    assert messages[exchanges[0]["request"]["messages"][0]] == {"role": "user", "content": "my key is <redacted>"}
    assert all(REAL.encode() not in path.read_bytes() for path in log.members.values())
    assert REAL not in repr(log)
    assert "invalid x-api-key <redacted>" in exchanges[0]["error"]


@pytest.mark.pure
def test_a_secret_is_found_however_the_stream_is_cut() -> None:
    text = f"a{REAL[:9]}b{REAL}{REAL}c{REAL[:5]}".encode()
    for size in range(1, len(text)):
        redactor = StreamRedactor(REAL)
        out = b"".join(redactor.feed(text[start : start + size]) for start in range(0, len(text), size))
        assert out + redactor.flush() == text.replace(REAL.encode(), b"<redacted>")


def test_headers_that_matter_come_back_and_those_of_the_account_do_not(serve: Serve, api: Api) -> None:
    extra = (("request-id", "req_x"), ("retry-after", "3"), ("set-cookie", "a=b"), ("anthropic-organization-id", "org"))
    api.play = Play(b"{}", 429, (("content-type", "application/json"), *extra))
    answer = serve().ask()
    assert (answer.headers["request-id"], answer.headers["retry-after"]) == ("req_x", "3")
    assert not {"set-cookie", "anthropic-organization-id", "server"} & set(answer.headers)


def test_counts_and_lists_of_models_come_from_the_api(serve: Serve, api: Api) -> None:
    api.play = Play(b'{"input_tokens": 77}', headers=(("content-type", "application/json"),))
    served = serve()
    assert served.ask(path="/v1/messages/count_tokens").json() == {"input_tokens": 77}
    assert httpx.get(served.url + "/v1/models", trust_env=False).json() == {"input_tokens": 77}
    assert served.ask(path="/v1/files").status_code == 404
    assert [path for _, path, _, _ in api.seen] == ["/v1/messages/count_tokens", "/v1/models"]
    assert served.stop()[0].exchanges == 0


def test_an_api_that_cannot_be_reached_is_a_fault_of_502(serve: Serve) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        served = serve(f"http://127.0.0.1:{unused.getsockname()[1]}")
        answer = served.ask()
    assert (answer.status_code, answer.json()["error"]["type"]) == (502, "api_error")
    log, _, _ = served.stop()
    assert [(fault.status, fault.times) for fault in log.faults] == [(502, 1)]
    assert (log.last_fault, log.cost, log.crashed) == (502, 0, "")


@pytest.mark.parametrize(
    ("status", "fault"), [(400, None), (401, 401), (404, None), (429, 429), (500, 500), (529, 529)]
)
def test_failing_statuses_are_told_apart(serve: Serve, api: Api, status: int, fault: int | None) -> None:
    api.play = Play(
        b'{"type":"error","error":{"type":"t","message":"m"}}', status, (("content-type", "application/json"),)
    )
    served = serve()
    assert served.ask().status_code == status
    log, exchanges, _ = served.stop()
    assert (log.last_fault, exchanges[0]["error"]) == (fault, "t: m")


def test_an_error_inside_a_stream_is_a_fault(serve: Serve, api: Api) -> None:
    error = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    api.play = Play(STREAM[:400].rpartition(b"event:")[0] + error)
    served = serve()
    served.ask()
    assert served.stop()[0].last_fault == 529


def test_a_stream_that_the_api_cuts_is_cut_for_the_agent_too(serve: Serve, api: Api) -> None:
    api.play = Play(STREAM[:300], announced=len(STREAM))
    served = serve()
    with pytest.raises(httpx.RemoteProtocolError):
        served.ask()
    log, exchanges, _ = served.stop()
    assert (log.last_fault, exchanges[0]["status"]) == (502, 200)
    assert "RemoteProtocolError" in exchanges[0]["error"]


def test_a_body_that_the_api_cuts_is_a_fault_too(serve: Serve, api: Api) -> None:
    api.play = Play(b'{"type":"message"', headers=(("content-type", "application/json"),), announced=99)
    served = serve()
    with pytest.raises(httpx.RemoteProtocolError):
        served.ask({**REQUEST, "stream": False})
    assert served.stop()[0].last_fault == 502


def test_a_redirect_is_not_followed_with_the_key(serve: Serve, api: Api) -> None:
    api.play = Play(b"", 307, (("location", f"http://127.0.0.1:{api.server_port}/v1/elsewhere"),))
    assert serve().ask().status_code == 307
    assert len(api.seen) == 1


def test_a_packed_answer_is_unpacked_on_the_way(serve: Serve, api: Api) -> None:
    api.play = Play(gzip.compress(STREAM), headers=(*Play().headers, ("content-encoding", "gzip")))
    served = serve()
    assert served.ask().content == STREAM
    assert served.stop()[0].output_tokens == 500


def test_a_budget_in_dollars_stops_the_next_request(serve: Serve, api: Api) -> None:
    served = serve(budget=Budget(usd=0.015))
    assert [served.ask().status_code for _ in range(4)] == [200, 200, 402, 402]
    log, _, _ = served.stop()
    assert (log.budget_exhausted, log.faults, len(api.seen)) == (True, (), 2)
    assert log.cost is not None
    assert log.cost >= 0.015


def test_a_budget_in_tokens_stops_the_next_request(serve: Serve, api: Api) -> None:
    served = serve(budget=Budget(tokens=1750))
    assert [served.ask().status_code for _ in range(2)] == [200, 402]
    assert len(api.seen) == 1


def test_a_model_without_a_price_has_no_cost_but_still_meets_the_budget(serve: Serve) -> None:
    served = serve(budget=Budget(usd=0.08))
    strange = {**REQUEST, "model": "model-of-tomorrow"}
    assert [served.ask(strange).status_code for _ in range(3)] == [200, 200, 402]
    log, _, _ = served.stop()
    assert (log.cost, log.budget_exhausted, log.output_tokens) == (None, True, 1000)


@pytest.mark.pure
def test_prices_are_found_by_dated_ids_and_never_guessed() -> None:
    prices = load_prices()
    assert prices.price("claude-haiku-4-5-20251001") == prices.models["claude-haiku-4-5"]
    assert prices.price("claude-haiku-4-5-latest") is None
    assert "2026" in prices.source
    for price in prices.models.values():
        assert price.cache_write == pytest.approx(1.25 * price.input)
        assert price.cache_write_hour == pytest.approx(2 * price.input)
        assert price.cost(Usage(1_000_000)) == price.input


@pytest.mark.pure
@pytest.mark.parametrize(
    ("url", "key", "code"),
    [
        ("api.example", "k", "GTW003"),
        ("https://a", "", "GTW002"),
        ("https://a", "a\nb", "GTW002"),
        ("https://a", "clé", "GTW002"),
    ],
)
def test_a_key_or_address_of_no_use_is_refused_without_being_told(url: str, key: str, code: str) -> None:
    with pytest.raises(OvereagerError) as caught:
        Provider(url, key)
    assert caught.value.code == code
    assert not key or key not in str(caught.value).split()
