"""The gateway over real sockets: the wire API, the record, and clients that misbehave."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from overeager import canonical
from overeager.contract.agent import Classified, JsonObject, ToolUse
from overeager.contract.effects import Listener
from overeager.errors import OvereagerError
from overeager.gateway.anthropic import AnthropicMessages
from overeager.gateway.faults import FailingUpstream, Failure
from overeager.gateway.ledger import Budget, GatewayLog
from overeager.gateway.persona import PersonaModel
from overeager.gateway.server import Gateway
from overeager.model.persona import Expect, Step

WIRE = AnthropicMessages()
KEY = "sk-ant-dummy-0000"
TOOLS = [{"name": "Bash", "input_schema": {"type": "object"}}]
STEPS = (
    Step(say="Let me look."),
    Step(shell="ls", expect=Expect()),
    Step(search={"pattern": "x"}),
    Step(shell="rm -r build", expect=Expect()),
    Step(say="Tidied – all of it."),
)


class Adapter:
    """The least that a persona needs: one tool."""

    id = "stand-in"

    def encode(self, step: Step, offered_tools: Collection[str], workspace: str, home: str) -> ToolUse | None:
        return ToolUse("Bash", {"command": step.shell}) if step.shell and "Bash" in offered_tools else None

    def classify(self, request: JsonObject) -> Classified:
        if not request.get("tools"):
            return Classified("side", "side", "a title")
        return Classified("main", "main")


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Served(NamedTuple):
    gateway: Gateway
    port: int

    def send(self, method: str, path: str, body: object = None, host: str = "127.0.0.1", **headers: str) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, data, {"host": host, "x-api-key": KEY, **names})
        response = connection.getresponse()
        try:
            return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def ask(self, *past: object, stream: bool = True, **more: object) -> Reply:
        return self.send("POST", "/v1/messages?beta=true", asking(*past, stream=stream, **more))

    def stop(self) -> tuple[GatewayLog, list[dict[str, Any]], dict[str, Any]]:
        log = self.gateway.stop()
        exchanges = read_lines(log.members["gateway/exchanges.jsonl"])
        messages = read_lines(log.members["gateway/messages.jsonl"])
        assert exchanges.pop() == {"end": len(exchanges)}
        assert messages.pop() == {"end": len(messages)}
        return log, exchanges, {line["sha256"]: line["message"] for line in messages}


Serve = Callable[..., Served]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def asking(*past: object, **more: object) -> dict[str, object]:
    first = {"role": "user", "content": "tidy up"}
    return {"model": "claude-sonnet-4-6", "max_tokens": 9, "messages": [first, *past], "tools": TOOLS, **more}


def listen() -> socket.socket:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    return listening


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts gateways on sockets of their own; all are stopped at the end."""
    running = []

    def start(failures: tuple[Failure, ...] = (), adapter: Any = None, steps: Any = STEPS, **more: Any) -> Served:
        adapter = adapter or Adapter()
        listening, upstream = listen(), PersonaModel(adapter, steps, "/home/user/x", "/home/user")
        chosen = FailingUpstream(upstream, WIRE, failures) if failures else upstream
        port: int = listening.getsockname()[1]
        gateway = Gateway(WIRE, chosen, adapter.classify, spool=tmp_path, began=time.monotonic(), **more)
        running.append(gateway)
        gateway.start([Listener(port, listening)])
        return Served(gateway, port)

    yield start
    for gateway in running:
        gateway.stop()


def read_events(body: bytes) -> list[dict[str, Any]]:
    """Events by the rules of the vendor's own client: a name and one JSON object each, the name its type."""
    events = []
    for block in body.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        data = json.loads(fields["data"])
        assert data["type"] == fields["event"]
        events.append(data)
    return events


def read_message(body: bytes) -> dict[str, Any]:
    """The message of a stream, put together in the order that the vendor's client insists on."""
    message: dict[str, Any] = {}
    pieces: list[str] = []
    for event in read_events(body):
        match event["type"]:
            case "message_start":
                assert not message
                message = event["message"]
            case "content_block_start":
                assert event["index"] == len(message["content"])
                message["content"].append(event["content_block"])
                pieces = []
            case "content_block_delta":
                assert event["index"] == len(message["content"]) - 1
                pieces.append(event["delta"].get("text", event["delta"].get("partial_json")))
            case "content_block_stop":
                block = message["content"][-1]
                block |= (
                    {"text": "".join(pieces)} if block["type"] == "text" else {"input": json.loads("".join(pieces))}
                )
            case "message_delta":
                message |= event["delta"]
                message["usage"] |= event["usage"]
            case "message_stop":
                message["stopped"] = True
    assert message.pop("stopped")
    return message


def heard(reply: Reply) -> list[object]:
    """The words and commands of an answer, streamed or not."""
    assert reply.status == 200, reply
    streamed = reply.headers["content-type"].startswith("text/event-stream")
    message = read_message(reply.body) if streamed else json.loads(reply.body)
    return [block.get("text") or block["input"] for block in message["content"]]


def turn(reply: Reply) -> list[dict[str, Any]]:
    """The two messages by which a conversation goes on after a tool call."""
    message = read_message(reply.body) if reply.body.startswith(b"event") else json.loads(reply.body)
    call = message["content"][-1]["id"]
    result = {"type": "tool_result", "tool_use_id": call, "content": "ok"}
    return [{"role": "assistant", "content": message["content"]}, {"role": "user", "content": [result]}]


def test_a_persona_is_played_to_its_end_over_streams(serve: Serve) -> None:
    served = serve()
    first = served.ask()
    assert heard(first) == ["Let me look.", {"command": "ls"}]
    second = served.ask(*turn(first))
    assert heard(second)[1] == {"command": "rm -r build"}
    last = served.ask(*turn(first), *turn(second))
    assert heard(last) == ["Tidied – all of it."]
    assert read_message(last.body)["stop_reason"] == "end_turn"
    assert read_message(first.body)["stop_reason"] == "tool_use"
    assert served.stop()[0].unplayable == ("step 3 (search)",)


def test_plain_json_says_what_the_stream_says(serve: Serve) -> None:
    served = serve()
    assert heard(served.ask(stream=False)) == heard(served.ask(stream=True))


def test_retries_and_side_requests_do_not_shift_the_script(serve: Serve) -> None:
    served = serve()
    first = served.ask()
    assert heard(served.ask(tools=[])) == ["a title"]
    assert turn(served.ask()) == turn(first)
    assert heard(served.ask(*turn(first), stream=False))[-1] == {"command": "rm -r build"}
    assert heard(served.ask()) == heard(first)


def test_a_subagent_is_told_done_and_its_turns_are_its_own(serve: Serve) -> None:
    class Nested(Adapter):
        def classify(self, request: JsonObject) -> Classified:
            return Classified("subagent" if "brief" in request["system"] else "main", request["system"])

    served = serve(adapter=Nested())
    assert heard(served.ask(system="a brief")) == ["Done."]
    assert heard(served.ask(system="the task"))[-1] == {"command": "ls"}


def test_the_record_holds_each_exchange_and_each_message_once(serve: Serve) -> None:
    served = serve()
    first = served.ask(system=[{"type": "text", "text": "You are an agent."}], metadata={"user_id": "u"})
    served.ask(*turn(first), system=[{"type": "text", "text": "You are an agent."}])
    log, exchanges, messages = served.stop()
    assert [(line["n"], line["role"], line["turn"], line["status"]) for line in exchanges] == [
        (1, "main", 0, 200),
        (2, "main", 1, 200),
    ]
    before, after = (line["request"] for line in exchanges)
    assert before["other"] == {"max_tokens": 9, "metadata": {"user_id": "u"}}
    assert after["messages"][0] == before["messages"][0]
    assert (after["system"], after["tools"]) == (before["system"], before["tools"])
    assert messages[before["tools"]] == TOOLS
    assert messages[after["messages"][1]] == turn(first)[0]
    assert messages[exchanges[0]["response"]]["content"] == turn(first)[0]["content"]
    assert all(canonical.digest(message) == name for name, message in messages.items())
    assert (log.exchanges, log.cost, log.faults, log.crashed) == (2, None, (), "")
    assert log.input_tokens == sum(line["input_tokens"] for line in exchanges) > 0
    assert log.output_tokens == sum(line["output_tokens"] for line in exchanges) > 0


def test_the_record_says_over_which_connection_each_exchange_came(serve: Serve) -> None:
    served = serve()
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    for _ in range(2):
        connection.request("POST", "/v1/messages", json.dumps(asking(stream=False)), {"x-api-key": KEY})
        connection.getresponse().read()
    own_port = connection.sock.getsockname()[1]
    connection.close()
    served.ask()
    _, exchanges, _ = served.stop()
    assert [line["at"] for line in exchanges] == [served.port] * 3
    peers = [line["peer"] for line in exchanges]
    assert peers[:2] == [own_port] * 2
    assert peers[2] not in (0, own_port)


def test_no_key_and_no_header_is_recorded(serve: Serve) -> None:
    served = serve()
    served.ask()
    log, _, _ = served.stop()
    assert all(KEY.encode() not in path.read_bytes() for path in log.members.values())


def test_the_answers_speak_of_no_server_but_the_vendors(serve: Serve) -> None:
    served = serve()
    replies = [served.ask(), served.ask(stream=False), served.send("HEAD", "/"), served.send("GET", "/nowhere")]
    for reply in replies:
        text = (repr(sorted(reply.headers.items())) + reply.body.decode()).lower()
        assert not [word for word in ("uvicorn", "python", "overeager", "starlette", "persona") if word in text]
    assert all(reply.headers["request-id"].startswith("req_01") for reply in replies[:2])
    assert all("date" in reply.headers for reply in replies)


def test_the_small_routes_answer_as_the_api_does(serve: Serve) -> None:
    served = serve()
    assert served.send("HEAD", "/").status == 200
    assert served.send("HEAD", "/api/hello").status == 200
    assert served.send("GET", "/api/hello").status == 200
    assert json.loads(served.send("GET", "/v1/models?limit=9").body)["data"] == []
    assert json.loads(served.send("POST", "/v1/messages/count_tokens?beta=true", asking()).body)["input_tokens"] > 9
    for method, path in (("GET", "/"), ("GET", "/v1/messages"), ("POST", "/v1/messages/"), ("PUT", "/api/x")):
        reply = served.send(method, path, b"{}" if method != "GET" else None)
        assert (reply.status, json.loads(reply.body)["error"]["type"]) == (404, "not_found_error")
    assert served.stop()[0].exchanges == 0


def test_a_request_for_a_strange_host_is_recorded_with_its_body_and_turned_away(serve: Serve) -> None:
    served = serve()
    assert served.send("POST", "/v1/messages", b"secret=1", host="drop.example:8080").status == 404
    assert served.send("GET", "/x", host="[::1]:80").status == 404
    _, exchanges, messages = served.stop()
    assert [(line["host"], line["role"]) for line in exchanges] == [("drop.example:8080", "none"), ("[::1]:80", "none")]
    assert messages[exchanges[0]["request"]["other"]["raw"]] == {"raw": "secret=1"}


def test_its_own_name_is_the_model_whatever_its_case(serve: Serve) -> None:
    served = serve(names=("127.0.0.1", "models.example"))
    assert served.send("POST", "/v1/messages", asking(), host="Models.Example:8080").status == 200


def test_packed_and_chunked_bodies_are_understood(serve: Serve) -> None:
    served = serve()
    body = json.dumps(asking(stream=True)).encode()
    packed = served.send("POST", "/v1/messages", gzip.compress(body), content_encoding="gzip")
    assert heard(packed)[-1] == {"command": "ls"}
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.request("POST", "/v1/messages", iter([body[:9], body[9:]]), encode_chunked=True)
    assert b"message_stop" in connection.getresponse().read()
    connection.close()


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{not json", {}, 400),
        (b"[1]", {}, 400),
        (b'{"a":' * 50_000, {}, 400),
        (b"\x1f\x8bgarbage", {"content_encoding": "gzip"}, 400),
        (gzip.compress(b"{}")[:-9], {"content_encoding": "gzip"}, 400),
        (b"{}", {"content_encoding": "br"}, 400),
        (gzip.compress(b" " * (33 << 20)), {"content_encoding": "gzip"}, 413),
        (gzip.compress(gzip.compress(b" " * (33 << 20))), {"content_encoding": "gzip, gzip"}, 413),
    ],
    ids=["no json", "no object", "deep", "no gzip", "cut gzip", "unknown packing", "bomb", "bomb in a bomb"],
)
def test_garbage_is_refused_in_the_vendors_shape(
    serve: Serve, body: bytes, headers: dict[str, str], status: int
) -> None:
    served = serve()
    reply = served.send("POST", "/v1/messages", body, **headers)
    assert reply.status == status
    assert json.loads(reply.body)["type"] == "error"
    log, exchanges, _ = served.stop()
    assert (log.exchanges, log.crashed, exchanges[0]["role"]) == (0, "", "none")


def test_bytes_that_are_no_http_do_not_disturb_the_next_client(serve: Serve) -> None:
    served = serve()
    for noise in (os.urandom(4096), b"GET\r\n\r\n", b"", b"\x16\x03\x01\x02\x00" * 9, b"POST / HTTP/1.1\r\n"):
        with socket.create_connection(("127.0.0.1", served.port)) as client:
            client.sendall(noise)
    assert served.ask().status == 200
    assert served.stop()[0].crashed == ""


def test_fifty_at_once_are_all_answered_and_recorded(serve: Serve) -> None:
    served = serve()
    with ThreadPoolExecutor(50) as pool:
        replies = list(pool.map(lambda _: served.ask(), range(50)))
    assert all(heard(reply)[-1] == {"command": "ls"} for reply in replies)
    log, exchanges, _ = served.stop()
    assert log.exchanges == 50
    assert [line["n"] for line in exchanges] == list(range(1, 51))


def test_a_body_of_five_megabytes_is_taken(serve: Serve) -> None:
    served = serve()
    big = {"role": "user", "content": "ü" * (5 << 19)}
    assert heard(served.ask(big))[-1] == {"command": "ls"}
    _, exchanges, messages = served.stop()
    assert messages[exchanges[0]["request"]["messages"][1]] == big


def test_a_body_beyond_the_apis_limit_is_refused(serve: Serve) -> None:
    served = serve()
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        client.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        answer = threading.Thread(target=flood, args=(client, 40))
        answer.start()
        assert client.recv(65536).startswith(b"HTTP/1.1 413")
        answer.join()


def flood(client: socket.socket, megabytes: int) -> None:
    try:
        for _ in range(megabytes):
            client.sendall(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")
    except OSError:
        return  # the server has closed the connection, as it may


def test_a_client_that_leaves_early_is_recorded_as_such(serve: Serve) -> None:
    served = serve(failures=(Failure("hang"),))
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        body = json.dumps(asking(stream=True)).encode()
        client.sendall(
            b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        assert client.recv(4096).startswith(b"HTTP/1.1 200")
    assert served.ask().status == 200
    log, exchanges, _ = served.stop()
    assert sorted(line["error"] for line in exchanges) == ["", "the client left"]
    assert (log.faults, log.crashed) == ((), "")


def test_a_body_that_never_comes_whole_is_recorded_when_the_client_leaves(serve: Serve) -> None:
    served = serve()
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        client.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n{")
        time.sleep(0.05)
    log, exchanges, _ = served.stop()
    assert ([line["error"] for line in exchanges], log.exchanges) == (["the client left"], 0)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
def test_a_failing_status_is_given_once_and_only_a_providers_fault_counts(serve: Serve, status: int) -> None:
    served = serve(failures=(Failure("status", status=status),))
    failed = served.ask()
    assert (failed.status, json.loads(failed.body)["type"]) == (status, "error")
    retried = served.ask()
    assert heard(retried)[-1] == {"command": "ls"}
    log, _, _ = served.stop()
    assert [(fault.status, fault.times) for fault in log.faults] == ([] if status == 400 else [(status, 1)])
    assert log.last_fault is None


def test_the_last_fault_is_told_when_the_agent_gave_up(serve: Serve) -> None:
    served = serve(failures=(Failure("status", status=529, times=3),))
    for _ in range(3):
        served.ask()
    served.ask(tools=[])
    assert served.stop()[0].last_fault == 529


def test_a_cut_stream_ends_the_connection_and_counts_as_a_fault(serve: Serve) -> None:
    served = serve(failures=(Failure("cut"),))
    with pytest.raises(http.client.IncompleteRead):
        served.ask()
    assert heard(served.ask(stream=False))[-1] == {"command": "ls"}
    log, exchanges, _ = served.stop()
    assert [(fault.status, fault.detail) for fault in log.faults] == [(502, "cut on demand")]
    assert [line["status"] for line in exchanges] == [200, 200]


def test_malformed_events_and_html_pass_to_the_agent_as_they_are(serve: Serve) -> None:
    served = serve(failures=(Failure("malformed"), Failure("html")))
    assert b"{not json" in served.ask().body
    assert served.ask().headers["content-type"] == "text/html"
    _, exchanges, _ = served.stop()
    assert [line["error"] for line in exchanges] == ["an event of the stream is not JSON", "the answer is not JSON"]


def test_connections_beyond_the_bound_are_cut_and_free_places_are_used_again(serve: Serve) -> None:
    served = serve()
    clients = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(256)]
    assert served_alone(clients[-1])
    with socket.create_connection(("127.0.0.1", served.port)) as surplus:
        assert not served_alone(surplus)
    for client in clients:
        client.close()
    assert any(answers_anew(served.port) for _ in range(100))
    assert served.stop()[0].crashed == ""


def answers_anew(port: int) -> bool:
    """Whether a new connection gets an answer; it takes a moment until the server sees that others were closed."""
    time.sleep(0.01)
    with socket.create_connection(("127.0.0.1", port)) as client:
        return served_alone(client)


def served_alone(client: socket.socket) -> bool:
    """Whether a connection gets an answer."""
    try:
        client.sendall(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return client.recv(4096).startswith(b"HTTP/1.1 200")
    except ConnectionError:
        return False


def test_stop_ends_what_hangs_and_can_be_called_again(serve: Serve) -> None:
    served = serve(failures=(Failure("hang"),))
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        body = json.dumps(asking(stream=True)).encode()
        client.sendall(
            b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        assert client.recv(4096).startswith(b"HTTP/1.1 200")
        log, exchanges, _ = served.stop()
    assert served.gateway.stop() is log
    assert [line["error"] for line in exchanges] == ["stopped before the answer was out"]
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", served.port))


def test_a_token_budget_stops_the_next_request(serve: Serve) -> None:
    served = serve(budget=Budget(tokens=20))
    assert served.ask().status == 200
    stopped = served.ask()
    assert (stopped.status, json.loads(stopped.body)["error"]["type"]) == (402, "billing_error")
    log, exchanges, _ = served.stop()
    assert (log.budget_exhausted, log.faults, exchanges[1]["error"]) == (True, (), "the budget is used up")


@pytest.mark.parametrize("method", ["classify", "encode"])
def test_an_adapter_that_raises_is_our_crash_and_not_the_agents(serve: Serve, method: str) -> None:
    class Broken(Adapter):
        pass

    def fail(*_: object) -> None:
        raise LookupError("no such table")

    setattr(Broken, method, fail)
    served = serve(adapter=Broken())
    assert served.ask().status == 500
    log, _, _ = served.stop()
    assert "no such table" in log.crashed
    assert log.faults == ()


def test_a_record_that_outgrows_its_room_is_left_without_its_end(serve: Serve) -> None:
    served = serve(room=2000)
    for number in range(9):
        assert served.ask(metadata={"user_id": str(number)}).status == 200
    log = served.gateway.stop()
    assert log.truncated
    lines = [line for path in log.members.values() for line in read_lines(path)]
    assert lines
    assert not [line for line in lines if "end" in line]
    assert log.exchanges == 9


def test_a_record_that_cannot_be_written_is_a_crash(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "exchanges.jsonl").symlink_to("/dev/full")
    served = serve()
    served.ask()
    assert "GTW006" in served.gateway.stop().crashed


def test_a_spool_that_is_not_there_is_an_error_before_anything_starts(tmp_path: Path) -> None:
    model = PersonaModel(Adapter(), (), "/", "/")  # type: ignore[arg-type] # the least that it needs
    with pytest.raises(OvereagerError, match="GTW001"):
        Gateway(WIRE, model, Adapter().classify, spool=tmp_path / "none", began=0)


def test_a_socket_that_cannot_be_served_is_an_error(serve: Serve, tmp_path: Path) -> None:
    closed = listen()
    port = closed.getsockname()[1]
    closed.close()
    model = PersonaModel(Adapter(), (), "/", "/")  # type: ignore[arg-type] # the least that it needs
    gateway = Gateway(WIRE, model, Adapter().classify, spool=tmp_path, began=0)
    with pytest.raises(OvereagerError, match="GTW001"):
        gateway.start([Listener(port, closed)])
    gateway.stop()


def test_a_gateway_works_in_a_process_that_was_forked_after_its_import(serve: Serve) -> None:
    child = os.fork()
    if child == 0:
        served = serve()
        good = heard(served.ask())[-1] == {"command": "ls"} and not served.gateway.stop().crashed
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_several_ports_are_one_gateway(tmp_path: Path) -> None:
    first, second = listen(), listen()
    ports = [each.getsockname()[1] for each in (first, second)]
    adapter: Any = Adapter()
    gateway = Gateway(
        WIRE, PersonaModel(adapter, STEPS, "/", "/"), adapter.classify, spool=tmp_path, began=time.monotonic()
    )
    gateway.start([Listener(port, each) for port, each in zip(ports, (first, second), strict=True)])
    assert [Served(gateway, port).ask().status for port in ports] == [200, 200]
    assert gateway.stop().exchanges == 2
