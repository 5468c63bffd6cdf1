"""The net channel: every attempt to reach somebody as an action, and what a service changed as others."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any

from overeager.actions.callers import find_callers
from overeager.actions.lines import Json, Line, Members, number_of, text_of, time_of
from overeager.actions.processes import Processes
from overeager.actions.seen import Seen, change, make
from overeager.model.action import Action, Pointer, Target
from overeager.model.vocabulary import Kind, State

REQUESTS = "net/requests.jsonl"
EXCHANGES, MESSAGES = "gateway/exchanges.jsonl", "gateway/messages.jsonl"
"""The agent's own talk with its model: no actions, but what stands in it has come out."""

GATE = "network"
"""What stops a request to somebody whom the scenario does not have."""

_CODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
"""Content codings that are undone."""

_CHANGES: Mapping[str, Kind] = {"create": "create", "edit": "edit", "delete": "delete"}


def read_requests(members: Members, kernel: Sequence[Line], processes: Processes) -> list[Seen]:
    """The actions that the record of the network shows, each with the process that called where only one can have."""
    lines = members.lines(REQUESTS).records
    callers = find_callers(lines, kernel, processes, members.lines(EXCHANGES).records)
    found: list[Seen] = []
    for line in lines:
        caller = callers.get(line.number)
        life = caller.life if caller else None
        pid = processes.lives[caller.life].pid if caller and caller.alone else None
        found.extend(Seen(change(action, process=pid), life) for action in _read(line))
    return found


def _read(line: Line) -> list[Action]:
    record = line.record
    source = Pointer(member=REQUESTS, line=line.number)
    common: dict[str, Any] = {"channel": "net", "time": time_of(record)}
    state = _state(record)
    attempt = make(
        source, **common, kind="fetch" if record.get("kind") in ("http", "tls") else "connect",
        targets=(_target(record),), detail=_detail(record), state=state,
        blocked_by=GATE if state == "blocked" else None,
    )  # fmt: skip
    changes = record.get("changes")
    done = [one for one in changes if isinstance(one, dict)] if isinstance(changes, list) else []
    return [attempt, *(_change(source, one, common) for one in done if one.get("operation") in _CHANGES)]


def _change(source: Pointer, told: Mapping[str, Any], common: Mapping[str, Any]) -> Action:
    target = Target(type="other", value=f"service:{told.get('object')}")
    return make(source, **common, kind=_CHANGES[str(told["operation"])], targets=(target,), state="executed")


def _target(record: Json) -> Target:
    host, port, kind = text_of(record, "host") or "", number_of(record, "port") or 0, record.get("kind")
    if kind == "http":
        place = host if port in (80, 0) else f"{host}:{port}"
        return Target(type="url", value=f"http://{place}{text_of(record, 'path') or '/'}")
    if kind == "tls":
        return Target(type="url", value=f"https://{host if port in (443, 0) else f'{host}:{port}'}/")
    return Target(type="address", value=f"dns:{host}" if kind == "dns" else f"{host}:{port}")


def _detail(record: Json) -> str:
    """Method (of a name its type), bytes and digest of what was sent."""
    size, digest = number_of(record, "bytes"), text_of(record, "sha256") or ""
    words = [text_of(record, "method") or text_of(record, "kind") or ""]
    if record.get("kind") != "dns" and size:
        words.append(f"{size} bytes sha256:{digest[:16]}")
    return " ".join(word for word in words if word)


def _state(record: Json) -> State:
    """Answered = executed; turned away because nobody is there = blocked; broken off = attempted."""
    kind, status = record.get("kind"), number_of(record, "status") or 0
    if kind == "dns":
        return "executed" if status == 0 and not record.get("error") else "failed"
    if kind == "tls":
        return "blocked"
    if kind == "tcp":
        return "attempted" if record.get("error") == "more connections at once than are served" else "executed"
    if status == 0:
        return "attempted"
    if kind == "connect":
        return {200: "executed", 403: "blocked"}.get(status, "failed")  # type: ignore[return-value] # words of State
    return "executed" if record.get("service") else "blocked"


def message_texts(members: Members) -> Sequence[tuple[int, str]]:
    """Line and text of each message to or from the model."""
    lines = members.lines(MESSAGES).records
    return [(line.number, json.dumps(line.record.get("message"), ensure_ascii=False)) for line in lines]


class Outgoing:
    """What one attempt carried, for searches."""

    def __init__(self, line: Line) -> None:
        record = line.record
        self.number = line.number
        self.claimed = _claims(record)
        """Sensitive places whose canary the recorder saw go by, with how it was written."""
        headers = record.get("headers")
        pairs = [one for one in headers if isinstance(one, list)] if isinstance(headers, list) else []
        head = [text_of(record, "host") or "", text_of(record, "path") or "", *(": ".join(map(str, p)) for p in pairs)]
        heads = [part.encode("utf-8", "surrogateescape") for part in head]
        self.body = body_of(record)
        self.head = b"\n\n".join(heads)
        self.data = b"\n".join([*heads, self.body])
        self.unread = _why_unread(record, pairs)
        """Why not all that was sent can have been read; empty = nothing says so."""


def _why_unread(record: Json, headers: Sequence[Sequence[object]]) -> str:
    """Why more may stand in the message than its kept part shows: what is in a coding of its own, or longer, was only
    searched for what is not packed."""
    claims = [str(one[1]) for one in headers if len(one) == 2 and str(one[0]).lower() == "content-encoding"]
    codings = {name.strip().lower() for claim in claims for name in claim.split(",")}
    if strange := sorted(codings - _CODINGS):
        return f"in the coding {strange[0]}"
    if number_of(record, "cut"):
        return "longer than what is kept"
    error = text_of(record, "error") or ""
    return error if "packed" in error else ""


def read_outgoing(members: Members) -> list[Outgoing]:
    """What each attempt carried, in order."""
    return [Outgoing(line) for line in members.lines(REQUESTS).records]


def read_names(members: Members) -> list[tuple[int, str]]:
    """Line and name, as it was written, of each question for one; a name asked again at once is left out."""
    found: list[tuple[int, str]] = []
    for line in members.lines(REQUESTS).records:
        name = text_of(line.record, "body") if line.record.get("kind") == "dns" else None
        if name and (not found or found[-1][1] != name):
            found.append((line.number, name))
    return found


def body_of(record: Json) -> bytes:
    """The kept part of what was sent."""
    body = text_of(record, "body") or ""
    if record.get("encoding") != "base64":
        return body.encode("utf-8", "surrogateescape")
    try:
        return base64.b64decode(body)
    except (binascii.Error, ValueError):
        return body.encode("utf-8", "surrogateescape")


def _claims(record: Json) -> dict[str, str]:
    found = record.get("sensitive")
    pairs = [one for one in found if isinstance(one, list) and len(one) == 2] if isinstance(found, list) else []
    return {str(path): str(how) for path, how in pairs}
