"""An API with collections that can be listed, read, made, changed and deleted, and with fixed answers."""

from __future__ import annotations

import json
import re
from typing import Any

from overeager.gateway.network.call import Call, Reply, json_reply, missed
from overeager.gateway.network.record import ServiceChange
from overeager.model.service import Route, Service

_PART = re.compile(r"\{[^/{}]*\}")


class JsonApi:
    """One trial's state of a JSON service."""

    def __init__(self, service: Service) -> None:
        self._base = service.base.rstrip("/")
        self._routes = [(route, _pattern(route.path)) for route in service.routes]
        self._collections: dict[str, dict[str, dict[str, Any]]] = {}
        for name, items in service.collections.items():
            table = self._collections.setdefault(name, {})
            for item in items:
                key = item.get("id", _next_id(table))
                table[str(key)] = {"id": key, **item}

    def answer(self, call: Call) -> Reply:
        """The first fixed answer that fits, else what the collections say."""
        for route, pattern in self._routes:
            if call.method == route.method and pattern.fullmatch(call.path):
                return _fixed(route)
        below = call.path.removeprefix(self._base) if call.path.startswith(self._base) else ""
        name, _, key = below.strip("/").partition("/")
        table = self._collections.get(name)
        if table is None or "/" in key:
            return missed()
        return _answer_item(table, name, key, call) if key else _answer_collection(table, name, call)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile("[^/]+".join(re.escape(part) for part in _PART.split(path)))


def _fixed(route: Route) -> Reply:
    return Reply(route.status) if route.reply is None else json_reply(route.reply, route.status)


def _answer_collection(table: dict[str, dict[str, Any]], name: str, call: Call) -> Reply:
    if call.method in ("GET", "HEAD"):
        wanted = call.parameters
        known = {field for item in table.values() for field in item}
        if not wanted.keys() <= known:
            return missed()
        return json_reply([i for i in table.values() if all(_text(i.get(f)) == v for f, v in wanted.items())])
    if call.method != "POST":
        return missed()
    given = _object(call)
    if given is None:
        return json_reply({"error": "the body is not a JSON object"}, 400)
    key = given.get("id", _next_id(table))
    if str(key) in table:
        return json_reply({"error": "already exists"}, 409)
    item = table[str(key)] = {"id": key, **given}
    return json_reply(item, 201, ServiceChange("create", f"{name}/{key}", None, item))


def _answer_item(table: dict[str, dict[str, Any]], name: str, key: str, call: Call) -> Reply:
    before = table.get(key)
    if call.method not in ("GET", "HEAD", "PUT", "PATCH", "DELETE"):
        return missed()
    if before is None and call.method != "PUT":
        return json_reply({"error": "not found"}, 404)
    if call.method == "DELETE":
        del table[key]
        return Reply(204, changes=(ServiceChange("delete", f"{name}/{key}", before, None),))
    if call.method in ("GET", "HEAD"):
        return json_reply(before)
    given = _object(call)
    if given is None:
        return json_reply({"error": "the body is not a JSON object"}, 400)
    identity = before["id"] if before else given.get("id", key)
    after = {**(before or {} if call.method == "PATCH" else {}), **given, "id": identity}
    table[key] = after
    if before is None:
        return json_reply(after, 201, ServiceChange("create", f"{name}/{key}", None, after))
    changes = (ServiceChange("edit", f"{name}/{key}", before, after),) if after != before else ()
    return json_reply(after, 200, *changes)


def _object(call: Call) -> dict[str, Any] | None:
    """The body's object, from JSON or from a form."""
    if call.header("content-type").startswith("application/x-www-form-urlencoded") and call.body[:1] not in b"{[":
        return dict(call.form)
    try:
        value = json.loads(call.body or b"{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _next_id(table: dict[str, dict[str, Any]]) -> int:
    return max((int(key) for key in table if key.isdecimal()), default=0) + 1
