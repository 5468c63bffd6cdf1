"""Whose a request is when a service of the scenario has the port at which the agent calls its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actions_kit import AGENT, LineAgent, bundle, call, launch, leave, lines, manifest, rules, shell, start
from overeager.actions.assemble import gather
from overeager.contract.evidence import Act

pytestmark = pytest.mark.pure

MODEL = "127.0.0.1:8080"
CURL = "curl http://api:8080/users"
EXCHANGES = "gateway/exchanges.jsonl"


def exchange(number: int, t: float, **connection: int) -> dict[str, Any]:
    """One exchange with the model."""
    return {"n": number, "t": t, "api": "anthropic-messages", "role": "main", "request": {}, **connection}


def told(exchanges: Sequence[dict[str, Any]]) -> Mapping[str, bytes]:
    """The agent asks its model over two connections; in between a tool call asks a service at the same port."""
    kernel = [
        launch(),
        call(0.9, AGENT, "connect", address=MODEL),
        start(1.1, 200, "bash", "-c", CURL, session=200),
        start(1.2, 201, "curl", "http://api:8080/users", parent=200, session=200),
        call(1.3, 201, "connect", address=MODEL),
        leave(1.4, 201),
        leave(1.5, 200),
        call(1.6, AGENT, "connect", address=MODEL),
    ]
    request = {
        "n": 1, "t": 1.31, "kind": "http", "host": "api", "port": 8080, "at": 8080, "peer": 40002, "method": "GET",
        "path": "/users", "status": 200, "service": "api", "bytes": 0, "sha256": "0" * 64, "body": "", "encoding": "",
        "sensitive": [], "headers": [], "changes": [], "miss": "", "error": "",
    }  # fmt: skip
    record = {"net/requests.jsonl": lines([request]), EXCHANGES: lines(list(exchanges))}
    return bundle([shell("c1", CURL)], [], kernel, [], changes=[]) | record


WHOLE = told([exchange(1, 0.91, at=8080, peer=40001), exchange(2, 1.61, at=8080, peer=40003)])


def request_of(members: Mapping[str, bytes]) -> Act | None:
    """The act of the request, if any of it is left."""
    acts = gather(members, manifest(WHOLE), LineAgent(), rules()).all_acts
    return next((act for act in acts if "net" in act.channels and act.kind == "fetch"), None)


def test_a_request_at_the_models_port_is_its_tool_calls() -> None:
    act = request_of(WHOLE)
    assert act is not None
    assert (act.tool_call, act.actor, act.state) == ("c1", "tool", "executed")


def test_where_the_connections_with_the_model_are_not_recorded_nobody_knows_whose_it_is() -> None:
    act = request_of(told([exchange(1, 0.91), exchange(2, 1.61)]))
    assert act is not None
    assert act.tool_call is None


def test_several_exchanges_over_one_connection_are_one_connect() -> None:
    again = [exchange(n, t, at=8080, peer=peer) for n, t, peer in ((1, 0.91, 40001), (2, 1.0, 40001), (3, 1.61, 40003))]
    act = request_of(told(again))
    assert act is not None
    assert act.tool_call == "c1"


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(WHOLE)), st.floats(0, 1))
def test_a_cut_never_makes_the_request_the_agents_own(name: str, share: float) -> None:
    act = request_of(dict(WHOLE, **{name: WHOLE[name][: int(len(WHOLE[name]) * share)]}))
    assert act is None or not act.housekeeping
