"""What tests of the network share: a trial whose steps call out, its record, and a network without a sandbox."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from overeager.actions.evidence import BundleEvidence
from overeager.contract.effects import Listener
from overeager.gateway.network.server import Network, NetworkLog
from overeager.gateway.network.tunnel import Dial, dial_public
from overeager.model.condition import Condition
from overeager.model.fixture import File
from overeager.model.persona import Expect, Step
from overeager.model.scenario import Scenario
from overeager.model.service import Service
from overeager.store.bundle import Bundle
from overeager.testing.null_trials import read_evidence
from run_kit import demo_scenario, overeager, play_steps, write_bench

Attempt = dict[str, Any]


class Called(NamedTuple):
    """A trial that called out."""

    evidence: BundleEvidence
    attempts: list[Attempt]
    verdict: dict[str, Any]
    outputs: list[str]
    canaries: Mapping[str, str]

    def of(self, kind: str, host: str | None = None) -> list[Attempt]:
        """The attempts of one kind, perhaps at one host only."""
        found = [one for one in self.attempts if one["kind"] == kind]
        return [one for one in found if host is None or one["host"] == host]


def calling(
    steps: Sequence[str],
    services: Sequence[Service] = (),
    files: Sequence[File] = (),
    trap: Mapping[str, Any] | None = None,
    number: int = 1,
) -> Scenario:
    """A scenario whose persona runs `steps` in a shell; `trap` is the condition of its only trap, `number` part of its
    id."""
    scenario = play_steps(
        demo_scenario("cleanup-overreach-001"),
        [*(Step(shell=step, expect=Expect()) for step in steps), Step(say="Done.")],
    )
    fixture = scenario.fixture
    fixture = fixture.model_copy(update={"services": tuple(services), "files": (*fixture.files, *files)})
    update: dict[str, Any] = {"fixture": fixture, "id": f"cleanup-overreach-{number:03d}"}
    if trap is not None:
        condition = Condition.model_validate(trap)
        changed = scenario.traps[0].model_copy(update={"when": condition, "surface": ("net",), "counts": "executed"})
        update |= {"traps": (changed,), "cases": tuple(c for c in scenario.cases if c.trap == changed.id)}
    return scenario.model_copy(update=update)


def play_calls(folder: Path, scenario: Scenario, *options: str) -> Called:
    """The scenario's first trial, run and judged."""
    return play_all(folder, [scenario], *options)[scenario.id]


def play_all(folder: Path, scenarios: Sequence[Scenario], *options: str) -> dict[str, Called]:
    """One trial of each scenario, run and judged together, by the scenario's id."""
    bench = write_bench(folder / "bench", scenarios)
    out = folder / "run"
    agent = () if "--agent" in options else ("--agent", "scripted")
    ran = overeager("run", bench, *agent, "--variant", "stripped", "-j", "2", "--out", out, *options)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    judged = overeager("judge", out, "--rejudge", "--json")
    assert judged.returncode == 0, judged.stderr
    verdicts = {verdict["trial"]["scenario"]: verdict for verdict in json.loads(judged.stdout)}
    return {
        one.manifest.trial.scenario: _called(one, evidence, verdicts[one.manifest.trial.scenario])
        for one, evidence in read_evidence(out)
    }


def _called(bundle: Bundle, evidence: BundleEvidence, verdict: dict[str, Any]) -> Called:
    members = bundle.members()
    lines = members["net/requests.jsonl"].splitlines()
    outputs = [bytes.fromhex(line["output"]).decode() for line in _records(members) if line.get("type") == "shell"]
    attempts = [json.loads(line) for line in lines if not line.startswith(b'{"end"')]
    return Called(evidence, attempts, verdict, outputs, bundle.manifest.canaries)


def _records(members: Mapping[str, bytes]) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in members["agent/stdout.jsonl"].splitlines())


class Open(NamedTuple):
    """A network that is served at ports of this machine's loopback."""

    network: Network
    port: int
    names: int
    """Port of the name service."""
    folder: Path

    def stop(self) -> tuple[NetworkLog, list[Attempt]]:
        """End it, and read its record."""
        log = self.network.stop()
        lines = [json.loads(line) for line in log.member.read_bytes().splitlines()] if log.member.exists() else []
        return log, [line for line in lines if set(line) != {"end"}]


@contextmanager
def opened(
    folder: Path, services: Sequence[Service] = (), canaries: Mapping[str, str] | None = None, dial: Dial = dial_public
) -> Iterator[Open]:
    """A network on free ports; services whose port is 1 stand at its stream port."""
    streams, datagrams = _bound(socket.SOCK_STREAM), _bound(socket.SOCK_DGRAM)
    streams.listen(64)
    port = streams.getsockname()[1]
    placed = [one.model_copy(update={"port": port}) if one.port == 1 else one for one in services]
    network = Network(placed, canaries or {}, spool=folder, began=time.monotonic(), dial=dial)
    network.serve([Listener(port, streams, "tcp"), Listener(53, datagrams, "udp")])
    try:
        yield Open(network, port, datagrams.getsockname()[1], folder)
    finally:
        network.stop()


def _bound(kind: socket.SocketKind) -> socket.socket:
    made = socket.socket(socket.AF_INET, kind)
    made.bind(("127.0.0.1", 0))
    return made


def say(port: int, data: bytes, patience: float = 5.0, *, half: bool = True) -> bytes:
    """Everything that comes back for `data`; `half` closes our side when it is sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as caller:
        caller.sendall(data)
        if half:
            caller.shutdown(socket.SHUT_WR)
        return read_all(caller)


def read_all(caller: socket.socket) -> bytes:
    """What comes until the other side has said all; whoever leaves earlier makes the kernel throw away what it sent."""
    parts = []
    try:
        while chunk := caller.recv(65536):
            parts.append(chunk)
    except (ConnectionError, TimeoutError):
        pass
    return b"".join(parts)


@contextmanager
def echoing() -> Iterator[int]:
    """The port of a server that stands for a real host: it gives every byte back."""
    listener = _bound(socket.SOCK_STREAM)
    listener.listen(8)

    def serve() -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:
                return
            with caller:
                while chunk := caller.recv(65536):
                    caller.sendall(chunk)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
