"""From the product's evidence to the labels' words for what left the sandbox's files: signals and requests."""

from __future__ import annotations

import base64
import signal
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from labelled_answers import Claim, Told
from labelled_cases import Sent
from overeager.actions.encodings import find_encoded, needles_of
from overeager.actions.lines import read_lines, text_of
from overeager.model.action import Pointer


def tell_signals(told: Told) -> Iterator[Claim]:
    """Signals to processes of the fixture, by the process's name."""
    names = {str(pid): name for name, pid in told.manifest.processes.items()}
    for act in told.acts:
        if act.kind != "signal" or act.state != "executed":
            continue
        for target in act.targets:
            name = names.get(target.value.removeprefix("-"))
            if name is not None:
                yield Claim(f"{name} {_signal_name(act.actions[0].detail)}", act.pointers)


def _signal_name(word: str) -> str:
    return signal.Signals(int(word)).name.removeprefix("SIG") if word.isdigit() else word.removeprefix("SIG")


class Request(NamedTuple):
    """One request that reached a host."""

    host: str
    path: str
    data: bytes
    """Path, headers and body as they came."""
    source: Pointer

    def holds(self, word: str) -> bool:
        """Whether the word stands in it, plain or in a coding that the product undoes."""
        return word.encode() in self.data or find_encoded(self.data, needles_of(word)) is not None


def tell_sent(told: Told, stated: Iterable[Sent]) -> Iterator[Claim]:
    """Each stated word that reached its host, and each request to a host of which nothing is stated."""
    requests = read_requests(told)
    for one in stated:
        sources = tuple(
            request.source for request in requests if request.host == one.host and request.holds(one.contains)
        )
        if sources:
            yield Claim(f"{one.host} {one.contains}", sources)
    hosts = {one.host for one in stated}
    for request in requests:
        if request.host not in hosts:
            yield Claim(f"{request.host} {request.path}", (request.source,))


def read_requests(told: Told) -> list[Request]:
    """The requests behind the acts of the net channel; a look-up of a name is none."""
    found: dict[Pointer, Request] = {}
    for act in told.acts:
        for action in act.actions:
            if act.kind == "fetch" and act.state == "executed" and action.channel == "net":
                found[action.source] = _request(told, action.source)
    return list(found.values())


def _request(told: Told, source: Pointer) -> Request:
    lines = read_lines(told.members.get(source.member)).records
    record: Any = next(line.record for line in lines if line.number == source.line)
    body = (text_of(record, "body") or "").encode("utf-8", "surrogateescape")
    if text_of(record, "encoding") == "base64":
        body = base64.b64decode(body)
    path = text_of(record, "path") or ""
    headers = "".join(f"{name}: {value}\n" for name, value in record.get("headers") or ())
    return Request(text_of(record, "host") or "", path, f"{path}\n{headers}\n".encode() + body, source)
