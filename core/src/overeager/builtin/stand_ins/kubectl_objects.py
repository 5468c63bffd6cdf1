"""What a cluster holds: `deployment/prod/web: {replicas: 3, image: …}`, `secret/prod/db: {data: {password: …}}`.

Names hold their namespace, but for what has none. An object with `context` is there in that context only.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import NamedTuple

from overeager.builtin.stand_ins.words import identify, number, objects, pairs, text
from overeager.canonical import Json
from overeager.contract.stand_in import Attributes, State


class Kind(NamedTuple):
    """One kind of object."""

    name: str
    """Singular, lower case: the collection."""
    title: str
    """`PersistentVolumeClaim`."""
    version: str
    words: tuple[str, ...]
    """By which it is called, beside its name."""
    spaced: bool = True
    """Whether it lies in a namespace."""


_KINDS = (
    Kind("pod", "Pod", "v1", ("pods", "po")),
    Kind("deployment", "Deployment", "apps/v1", ("deployments", "deploy", "deployment.apps", "deployments.apps")),
    Kind("statefulset", "StatefulSet", "apps/v1", ("statefulsets", "sts", "statefulset.apps")),
    Kind("daemonset", "DaemonSet", "apps/v1", ("daemonsets", "ds")),
    Kind("replicaset", "ReplicaSet", "apps/v1", ("replicasets", "rs")),
    Kind("service", "Service", "v1", ("services", "svc")),
    Kind("ingress", "Ingress", "networking.k8s.io/v1", ("ingresses", "ing")),
    Kind("configmap", "ConfigMap", "v1", ("configmaps", "cm")),
    Kind("secret", "Secret", "v1", ("secrets",)),
    Kind("job", "Job", "batch/v1", ("jobs",)),
    Kind("cronjob", "CronJob", "batch/v1", ("cronjobs", "cj")),
    Kind("persistentvolumeclaim", "PersistentVolumeClaim", "v1", ("persistentvolumeclaims", "pvc")),
    Kind("serviceaccount", "ServiceAccount", "v1", ("serviceaccounts", "sa")),
    Kind("role", "Role", "rbac.authorization.k8s.io/v1", ("roles",)),
    Kind("rolebinding", "RoleBinding", "rbac.authorization.k8s.io/v1", ("rolebindings",)),
    Kind("clusterrole", "ClusterRole", "rbac.authorization.k8s.io/v1", ("clusterroles",), False),
    Kind("clusterrolebinding", "ClusterRoleBinding", "rbac.authorization.k8s.io/v1", ("clusterrolebindings",), False),
    Kind("namespace", "Namespace", "v1", ("namespaces", "ns"), False),
    Kind("node", "Node", "v1", ("nodes", "no"), False),
    Kind("persistentvolume", "PersistentVolume", "v1", ("persistentvolumes", "pv"), False),
)
ALL = ("pod", "service", "daemonset", "deployment", "replicaset", "statefulset", "job", "cronjob")
"""What `all` means."""


class Found(NamedTuple):
    """One object of the current context."""

    kind: Kind
    key: str
    """Its name in the state."""
    thing: Attributes

    @property
    def namespace(self) -> str:
        """Empty for what lies in none."""
        return self.key.partition("/")[0] if self.kind.spaced and "/" in self.key else ""

    @property
    def name(self) -> str:
        """Without its namespace."""
        return self.key.partition("/")[2] if self.kind.spaced and "/" in self.key else self.key


def find_kind(word: str) -> Kind | None:
    """The kind that a word means, whatever its case."""
    plain = word.lower()
    return next((kind for kind in _KINDS if plain == kind.name or plain in kind.words), None)


def kind_of(name: str) -> Kind:
    """The kind of a collection."""
    found = find_kind(name)
    assert found is not None
    return found


def current_context(state: State) -> str:
    """The name of the context that is used."""
    known = objects(state, "context")
    return next((name for name, one in known.items() if one.get("current") is True), next(iter(known), "default"))


def default_namespace(state: State) -> str:
    """The namespace of the current context."""
    return text(objects(state, "context").get(current_context(state), {}), "namespace", "default")


def find_all(state: State, kind: Kind, namespace: str | None, context: str) -> list[Found]:
    """The objects of a kind in a namespace (None = all), by name."""
    found = [Found(kind, key, thing) for key, thing in objects(state, kind.name).items()]
    return [
        one
        for one in sorted(found, key=lambda one: one.key)
        if (namespace is None or not kind.spaced or one.namespace == namespace)
        and text(one.thing, "context", context) == context
    ]


def key_of(kind: Kind, namespace: str, name: str) -> str:
    """The name of an object in the state."""
    return f"{namespace}/{name}" if kind.spaced else name


def manifest_of(found: Found) -> dict[str, Json]:
    """The object as YAML and JSON show it; a secret's data in base64."""
    kind, thing = found.kind, found.thing
    labels: Json = dict(pairs(thing, "labels"))
    metadata: dict[str, Json] = {
        "name": found.name,
        "uid": identify("kubectl", kind.name, found.key)[:32],
        "labels": labels,
    }
    if found.namespace:
        metadata["namespace"] = found.namespace
    shown: dict[str, Json] = {"apiVersion": kind.version, "kind": kind.title, "metadata": metadata}
    if kind.name in ("secret", "configmap"):
        data = pairs(thing, "data")
        shown["data"] = {name: _encode(value) if kind.name == "secret" else value for name, value in data.items()}
        return {**shown, "type": text(thing, "type", "Opaque")} if kind.name == "secret" else shown
    spec = thing.get("spec")
    described = dict(spec) if isinstance(spec, dict) else {}
    if "replicas" in thing:
        described["replicas"] = number(thing, "replicas")
    if image := text(thing, "image"):
        containers: Json = [{"name": found.name, "image": image, "env": _environment(thing)}]
        inner: Json = {"containers": containers}
        described |= {"containers": containers} if kind.name == "pod" else {"template": {"spec": inner}}
    ready = number(thing, "ready", number(thing, "replicas", 1))
    status: Json = (
        {"phase": text(thing, "status", "Running")} if kind.name in ("pod", "namespace") else {"readyReplicas": ready}
    )
    return {**shown, "spec": described, "status": status}


def _encode(value: str) -> str:
    return base64.b64encode(value.encode("utf-8", "surrogateescape")).decode()


def _environment(thing: Mapping[str, Json]) -> Json:
    return [{"name": name, "value": value} for name, value in pairs(thing, "env").items()]
