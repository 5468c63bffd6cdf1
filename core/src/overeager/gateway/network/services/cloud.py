"""A cloud's storage (buckets and objects, path style) and machines (a JSON API below /v1/instances)."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from xml.sax.saxutils import escape

from overeager.gateway.network.call import Call, Reply, json_reply, missed
from overeager.gateway.network.record import Operation, ServiceChange
from overeager.model.service import Service

_MACHINES = "/v1/instances"
_ACTIONS = {"start": "running", "stop": "stopped", "reboot": "running", "terminate": "terminated"}
_SHOWN = 4096


class Cloud:
    """One trial's state of a cloud."""

    def __init__(self, service: Service) -> None:
        self._buckets = {name: {k: v.encode() for k, v in objects.items()} for name, objects in service.buckets.items()}
        self._machines: dict[str, dict[str, Any]] = {
            str(one.get("id", f"i-{n:08x}")): {"id": f"i-{n:08x}", "state": "running", **one}
            for n, one in enumerate(service.instances, 1)
        }

    def answer(self, call: Call) -> Reply:
        """By the path: a machine, the list of buckets, a bucket, an object."""
        if call.path == _MACHINES or call.path.startswith(f"{_MACHINES}/"):
            return self._answer_machine(call, call.path.removeprefix(_MACHINES).strip("/").split("/"))
        bucket, _, key = call.path.lstrip("/").partition("/")
        if not bucket:
            return _xml(_bucket_list(self._buckets)) if call.method in ("GET", "HEAD") else missed()
        return self._answer_object(call, bucket, key) if key else self._answer_bucket(call, bucket)

    def _answer_machine(self, call: Call, parts: list[str]) -> Reply:
        if parts == [""]:
            return json_reply({"instances": list(self._machines.values())}) if call.method == "GET" else missed()
        machine = self._machines.get(parts[0])
        action = parts[1] if len(parts) == 2 else ("terminate" if call.method == "DELETE" else "")
        if len(parts) > 2 or (call.method, bool(action)) not in (("GET", False), ("POST", True), ("DELETE", True)):
            return missed()
        if machine is None:
            return json_reply({"error": "InvalidInstanceID.NotFound"}, 404)
        if not action:
            return json_reply(machine)
        if action not in _ACTIONS:
            return missed()
        after = self._machines[parts[0]] = {**machine, "state": _ACTIONS[action]}
        operation: Operation = "delete" if action == "terminate" else "edit"
        changes = () if after == machine else (ServiceChange(operation, f"instances/{parts[0]}", machine, after),)
        return json_reply(after, 200, *changes)

    def _answer_bucket(self, call: Call, name: str) -> Reply:
        bucket = self._buckets.get(name)
        if call.method == "PUT" and not call.query:
            if bucket is not None:
                return _error(409, "BucketAlreadyOwnedByYou")
            self._buckets[name] = {}
            return Reply(200, changes=(ServiceChange("create", f"buckets/{name}"),))
        if call.method not in ("GET", "HEAD", "DELETE"):
            return missed()
        if bucket is None:
            return _error(404, "NoSuchBucket")
        if call.method == "DELETE":
            if bucket:
                return _error(409, "BucketNotEmpty")
            del self._buckets[name]
            return Reply(204, changes=(ServiceChange("delete", f"buckets/{name}"),))
        if not call.parameters.keys() <= {"list-type", "prefix", "delimiter", "encoding-type", "max-keys"}:
            return missed()
        return _xml(_object_list(name, bucket, call.parameters.get("prefix", "")))

    def _answer_object(self, call: Call, name: str, key: str) -> Reply:
        bucket = self._buckets.get(name)
        if call.query and call.method != "GET":
            return missed()
        if bucket is None:
            return _error(404, "NoSuchBucket")
        before = bucket.get(key)
        place = f"buckets/{name}/{key}"
        if call.method == "PUT":
            if call.header("x-amz-copy-source"):
                return missed()
            bucket[key] = call.body
            operation: Operation = "create" if before is None else "edit"
            change = ServiceChange(operation, place, _shown(before), _shown(call.body))
            return Reply(200, changes=(change,), headers=(("etag", _etag(call.body)),))
        if call.method == "DELETE":
            bucket.pop(key, None)
            return Reply(204, changes=() if before is None else (ServiceChange("delete", place, _shown(before), None),))
        if call.method not in ("GET", "HEAD"):
            return missed()
        if before is None:
            return _error(404, "NoSuchKey")
        return Reply(200, before, "binary/octet-stream", headers=(("etag", _etag(before)),))


def _shown(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")[:_SHOWN]


def _etag(data: bytes) -> str:
    return json.dumps(hashlib.md5(data, usedforsecurity=False).hexdigest())


def _xml(text: str, status: int = 200) -> Reply:
    return Reply(status, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode(), "application/xml")


def _error(status: int, code: str) -> Reply:
    return _xml(f"<Error><Code>{code}</Code><Message>{code}</Message></Error>", status)


def _bucket_list(buckets: dict[str, dict[str, bytes]]) -> str:
    names = "".join(f"<Bucket><Name>{escape(name)}</Name></Bucket>" for name in sorted(buckets))
    return f"<ListAllMyBucketsResult><Buckets>{names}</Buckets></ListAllMyBucketsResult>"


def _object_list(name: str, objects: dict[str, bytes], prefix: str) -> str:
    found = [key for key in sorted(objects) if key.startswith(prefix)]
    entries = "".join(f"<Contents><Key>{escape(key)}</Key><Size>{len(objects[key])}</Size></Contents>" for key in found)
    head = f"<Name>{escape(name)}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(found)}</KeyCount>"
    return f"<ListBucketResult>{head}<IsTruncated>false</IsTruncated>{entries}</ListBucketResult>"
