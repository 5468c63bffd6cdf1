"""What kubectl shows: tables, YAML, JSON, descriptions, logs."""

from __future__ import annotations

import json

import yaml

from overeager.builtin.stand_ins.kubectl_objects import Found, manifest_of
from overeager.builtin.stand_ins.selection import plain, select
from overeager.builtin.stand_ins.words import identify, number, pairs, table, text, texts
from overeager.canonical import Json
from overeager.contract.stand_in import Answer

_COLUMNS = {
    "pod": ("READY", "STATUS", "RESTARTS"),
    "deployment": ("READY", "UP-TO-DATE", "AVAILABLE"),
    "statefulset": ("READY",),
    "replicaset": ("DESIRED", "CURRENT", "READY"),
    "daemonset": ("DESIRED", "CURRENT", "READY"),
    "service": ("TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)"),
    "configmap": ("DATA",),
    "secret": ("TYPE", "DATA"),
    "job": ("COMPLETIONS",),
    "cronjob": ("SCHEDULE", "SUSPEND"),
    "namespace": ("STATUS",),
    "node": ("STATUS", "ROLES", "VERSION"),
    "persistentvolumeclaim": ("STATUS", "VOLUME", "CAPACITY"),
    "persistentvolume": ("CAPACITY", "RECLAIM POLICY", "STATUS"),
    "ingress": ("HOSTS",),
}


def _cells(found: Found) -> tuple[str, ...]:
    thing, kind = found.thing, found.kind.name
    replicas = number(thing, "replicas", 1)
    ready = number(thing, "ready", replicas)
    values = {
        "READY": f"{ready}/{replicas}" if kind != "replicaset" else str(ready),
        "STATUS": text(thing, "status", _STATUS.get(kind, "Running")),
        "RESTARTS": str(number(thing, "restarts")),
        "UP-TO-DATE": str(replicas),
        "AVAILABLE": str(ready),
        "DESIRED": str(replicas),
        "CURRENT": str(replicas),
        "TYPE": text(thing, "type", "ClusterIP" if kind == "service" else "Opaque"),
        "CLUSTER-IP": text(
            thing, "cluster_ip", f"10.96.{int(identify(found.key)[:2], 16)}.{int(identify(found.key)[2:4], 16)}"
        ),
        "EXTERNAL-IP": text(thing, "external_ip", "<none>"),
        "PORT(S)": ",".join(texts(thing, "ports")) or "80/TCP",
        "DATA": str(len(pairs(thing, "data"))),
        "COMPLETIONS": text(thing, "completions", "1/1"),
        "SCHEDULE": text(thing, "schedule", "0 3 * * *"),
        "SUSPEND": "True" if thing.get("suspend") is True else "False",
        "ROLES": text(thing, "roles", "<none>"),
        "VERSION": text(thing, "version", "v1.31.4"),
        "CAPACITY": text(thing, "capacity", "10Gi"),
        "VOLUME": text(thing, "volume", f"pvc-{identify(found.key)[:8]}"),
        "RECLAIM POLICY": text(thing, "reclaim_policy", "Delete"),
        "HOSTS": ",".join(texts(thing, "hosts")) or "*",
    }
    return tuple(values[column] for column in _COLUMNS.get(kind, ()))


_STATUS = {"namespace": "Active", "node": "Ready", "persistentvolumeclaim": "Bound", "persistentvolume": "Bound"}


def show_list(
    groups: list[list[Found]], output: str, *, one: bool, spaces: bool, headless: bool, prefixed: bool
) -> Answer:
    """The objects, a table for each kind, or all of them in the wanted form."""
    everything = [found for group in groups for found in group]
    if output == "name":
        return Answer("".join(f"{_long(found)}\n" for found in everything))
    if output in ("", "wide"):
        return Answer("\n".join(_show_table(group, spaces, headless, prefixed) for group in groups if group))
    manifests: list[Json] = [manifest_of(found) for found in everything]
    value: Json = (
        manifests[0] if one and len(manifests) == 1 else {"apiVersion": "v1", "kind": "List", "items": manifests}
    )
    if output == "json":
        return Answer(json.dumps(value, indent=4) + "\n")
    if output == "yaml":
        return Answer(yaml.safe_dump(value, sort_keys=False))
    kind, _, template = output.partition("=")
    if kind == "jsonpath":
        return _show_path(value, template)
    return Answer(
        stderr=f'error: unable to match a printer suitable for the output format "{output}"\n', status=1, known=False
    )


def _show_path(value: Json, template: str) -> Answer:
    """A jsonpath of plain fields; text around them stays."""
    said, rest = "", template.strip("'\"")
    while rest:
        before, opened, after = rest.partition("{")
        said += before
        if not opened:
            break
        path, _, rest = after.partition("}")
        if path.startswith('"'):
            said += path.strip('"').replace("\\n", "\n").replace("\\t", "\t")
            continue
        found = select(value, path.strip())
        if found is None or path.startswith(("range", "end")):
            return Answer(stderr=f"error: error parsing jsonpath {template}\n", status=1, known=False)
        said += " ".join(plain(one) for one in found if one is not None)
    return Answer(said)


def _long(found: Found) -> str:
    group = {
        "deployment": ".apps",
        "statefulset": ".apps",
        "daemonset": ".apps",
        "replicaset": ".apps",
        "job": ".batch",
    }
    return f"{found.kind.name}{group.get(found.kind.name, '')}/{found.name}"


def _show_table(group: list[Found], spaces: bool, headless: bool, prefixed: bool) -> str:
    lead = ("NAMESPACE",) if spaces and group[0].kind.spaced else ()
    head = (*lead, "NAME", *_COLUMNS.get(group[0].kind.name, ()), "AGE")
    rows = [
        (
            *((found.namespace,) if lead else ()),
            _long(found) if prefixed else found.name,
            *_cells(found),
            text(found.thing, "age", "14d"),
        )
        for found in group
    ]
    return table(head, rows, headless=headless)


def describe(found: Found) -> str:
    """kubectl describe; a secret's values stay hidden."""
    labels = ",".join(f"{key}={value}" for key, value in pairs(found.thing, "labels").items()) or "<none>"
    lines = [f"Name:         {found.name}"]
    lines += [f"Namespace:    {found.namespace}"] if found.namespace else []
    lines.append(f"Labels:       {labels}")
    if found.kind.name in ("secret", "configmap"):
        lines += ["", "Data", "===="]
        for key, value in pairs(found.thing, "data").items():
            lines.append(
                f"{key}:  {len(value.encode())} bytes" if found.kind.name == "secret" else f"{key}:\n----\n{value}\n"
            )
    else:
        lines += [
            f"{key.capitalize()}:  {text(found.thing, key)}"
            for key in ("status", "image", "replicas", "type")
            if key in found.thing
        ]
        environment = pairs(found.thing, "env")
        lines += ["Environment:", *(f"  {key}:  {value}" for key, value in environment.items())] if environment else []
    return "".join(f"{line}\n" for line in (*lines, "Events:  <none>"))
