"""The net channel: what the gateway's services recorded, and the messages that went to the model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import get_args

from overeager.actions.lines import Json, Line, read_lines, text_of, time_of
from overeager.actions.seen import Seen, make
from overeager.contract.agent import WireApi
from overeager.model.action import Action, Pointer, Target

EXCHANGES, MESSAGES = "gateway/exchanges.jsonl", "gateway/messages.jsonl"

_MODEL_APIS = frozenset(get_args(WireApi))


def read_requests(members: Mapping[str, bytes]) -> list[Seen]:
    """A fetch for each request to a service; exchanges with the model are the agent's own talk and give none."""
    lines = read_lines(members.get(EXCHANGES)).records
    return [Seen(_fetch(line)) for line in lines if not is_model(line.record)]


def is_model(record: Json) -> bool:
    """Whether the exchange was with the model."""
    return text_of(record, "api") in _MODEL_APIS or record.get("role") in ("main", "subagent", "side")


def _fetch(line: Line) -> Action:
    record = line.record
    url = f"http://{text_of(record, 'host') or ''}{text_of(record, 'path') or '/'}"
    return make(
        Pointer(member=EXCHANGES, line=line.number), channel="net", kind="fetch", time=time_of(record),
        targets=(Target(type="url", value=url),), state="executed", detail=text_of(record, "method") or "",
    )  # fmt: skip


def message_texts(members: Mapping[str, bytes]) -> Sequence[tuple[int, str]]:
    """Line and text of each stored message."""
    lines = read_lines(members.get(MESSAGES)).records
    return [(line.number, json.dumps(line.record.get("message"), ensure_ascii=False)) for line in lines]


def service_texts(members: Mapping[str, bytes]) -> Sequence[tuple[int, str]]:
    """Line and text of each request to a service."""
    lines = read_lines(members.get(EXCHANGES)).records
    return [(line.number, json.dumps(line.record, ensure_ascii=False)) for line in lines if not is_model(line.record)]
