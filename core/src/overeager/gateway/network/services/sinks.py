"""Services that take what is sent to them: a paste site, a chat, a webhook."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from overeager.gateway.network.call import Call, Reply, json_reply, missed, text_reply
from overeager.gateway.network.record import ServiceChange
from overeager.model.service import Service

_SHOWN = 4096
"""Characters of a message that its change shows; the request's own record has more."""


class Paste:
    """Stores a text and gives the address where it can be read."""

    def __init__(self, service: Service) -> None:
        self._texts: dict[str, str] = {}

    def answer(self, call: Call) -> Reply:
        """POST and PUT store, GET reads."""
        if call.method in ("GET", "HEAD"):
            key = call.path.rpartition("/")[2]
            if call.path in ("", "/"):
                return text_reply("POST a text to get its address\n")
            return text_reply(self._texts[key]) if key in self._texts else text_reply("not found\n", 404)
        if call.method not in ("POST", "PUT"):
            return missed()
        text = _message(call)
        key = hashlib.sha256(f"{len(self._texts)}\0{text}".encode()).hexdigest()[:8]
        self._texts[key] = text
        change = ServiceChange("create", f"pastes/{key}", None, text[:_SHOWN])
        return text_reply(f"http://{call.host}/{key}\n", 201, change)


class Chat:
    """Takes messages as a chat's incoming webhook and as its `chat.postMessage` do."""

    def __init__(self, service: Service) -> None:
        self._channels = service.channels or ("general",)
        self._messages: list[dict[str, Any]] = []

    def answer(self, call: Call) -> Reply:
        """What a chat of that kind answers to a webhook, a message, and questions for channels and history."""
        method = call.path.rpartition("/")[2]
        if call.method == "POST" and call.path.startswith(("/services/", "/hooks/")):
            return text_reply("ok", 200, self._post(self._channels[0], _words(call)))
        if call.path == "/api/chat.postMessage" and call.method == "POST":
            return self._take(_fields(call))
        if method == "conversations.list":
            channels = [{"id": f"C{n:04d}", "name": name} for n, name in enumerate(self._channels, 1)]
            return json_reply({"ok": True, "channels": channels})
        if method == "conversations.history":
            wanted = {**call.parameters, **_fields(call)}.get("channel", "")
            found = [one for one in self._messages if one["channel"] == self._name(str(wanted))]
            return json_reply({"ok": True, "messages": found[::-1]})
        if method == "auth.test":
            return json_reply({"ok": True, "user": "bot", "team": "team"})
        return missed()

    def _take(self, fields: dict[str, Any]) -> Reply:
        channel = self._name(str(fields.get("channel", "")))
        if channel not in self._channels:
            return json_reply({"ok": False, "error": "channel_not_found"})
        change = self._post(channel, str(fields.get("text", "")) or json.dumps(fields.get("blocks", "")))
        return json_reply({"ok": True, "channel": channel, "ts": self._messages[-1]["ts"]}, 200, change)

    def _name(self, given: str) -> str:
        known = {f"C{n:04d}": name for n, name in enumerate(self._channels, 1)}
        return known.get(given, given.lstrip("#"))

    def _post(self, channel: str, text: str) -> ServiceChange:
        message = {"channel": channel, "text": text[:_SHOWN], "ts": f"1768471200.{len(self._messages) + 1:06d}"}
        self._messages.append(message)
        return ServiceChange("create", f"messages/{channel}/{len(self._messages)}", None, message)


class Webhook:
    """Takes whatever is posted."""

    def __init__(self, service: Service) -> None:
        self._deliveries = 0

    def answer(self, call: Call) -> Reply:
        """POST, PUT and PATCH are taken; anything else is told that they are not allowed."""
        if call.method not in ("POST", "PUT", "PATCH"):
            return json_reply({"error": "method not allowed"}, 405)
        self._deliveries += 1
        after = {"path": call.path, "text": _message(call)[:_SHOWN]}
        return json_reply({"ok": True}, 200, ServiceChange("create", f"deliveries/{self._deliveries}", None, after))


def _message(call: Call) -> str:
    """The text that a request carries: a form's one field, or the body as it is."""
    if call.header("content-type").startswith("application/x-www-form-urlencoded"):
        fields = call.form
        if len(fields) == 1 and next(iter(fields.values())):
            return next(iter(fields.values()))
    return call.body.decode("utf-8", "replace")


def _fields(call: Call) -> dict[str, Any]:
    try:
        value = json.loads(call.body)
    except (ValueError, RecursionError):
        return dict(call.form)
    return value if isinstance(value, dict) else {}


def _words(call: Call) -> str:
    fields = _fields(call)
    if "payload" in fields:
        try:
            inner = json.loads(str(fields["payload"]))
            fields = inner if isinstance(inner, dict) else fields
        except (ValueError, RecursionError):
            pass
    return str(fields.get("text", "")) or call.body.decode("utf-8", "replace")
