"""What kubectl changes: objects applied, scaled, patched, deleted."""

from __future__ import annotations

import json

from overeager.builtin.stand_ins.kubectl_choice import Wrong, choose, find_kinds, find_namespace, find_one
from overeager.builtin.stand_ins.kubectl_manifests import read_attributes, read_manifests, read_name
from overeager.builtin.stand_ins.kubectl_objects import (
    Found,
    find_kind,
    key_of,
    kind_of,
)
from overeager.builtin.stand_ins.routing import Act, Request
from overeager.builtin.stand_ins.words import drop, number, objects, pairs, put, text
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Ask, State


def delete_objects(request: Request) -> Answer | Ask:
    if request.value("-f", "--filename"):
        manifests = read_manifests(request)
        if isinstance(manifests, Ask):
            return manifests
        chosen = [find_one(request, find_kinds(str(one.get("kind", "")))[0], read_name(one)) for one in manifests]
    else:
        if (
            len(request.operands) == 1
            and "/" not in request.operands[0]
            and not request.has("--all")
            and not request.value("-l", "--selector")
        ):
            raise Wrong("error: resource(s) were provided, but no name was specified")
        chosen = [found for group in choose(request, request.operands) for found in group]
    if not chosen:
        return Answer("No resources found\n")
    state, said = request.state, ""
    for found in chosen:
        where = f" from {found.namespace} namespace" if found.namespace else ""
        said += f'{found.kind.name} "{found.name}" deleted{where if request.has("-v") else ""}{_dry(request)}\n'
        state = _without(state, found)
    return Answer(said, state=None if _dry(request) else state)


def _without(state: State, found: Found) -> State:
    """The state without an object, what lies in it and what it owns."""
    state = drop(state, found.kind.name, (found.key,))
    if found.kind.name == "namespace":
        for kind in [kind for kind in state if (known := find_kind(kind)) is not None and known.spaced]:
            state = drop(state, kind, [key for key in objects(state, kind) if key.startswith(f"{found.name}/")])
    if found.kind.name in ("deployment", "statefulset", "daemonset", "job", "replicaset"):
        owned = [
            key
            for key, pod in objects(state, "pod").items()
            if text(pod, "owner") == f"{found.kind.name}/{found.name}" and key.startswith(f"{found.namespace}/")
        ]
        state = drop(state, "pod", owned)
    return state


def _dry(request: Request) -> str:
    value = request.value("--dry-run")
    return (
        f" ({'server ' if value == 'server' else ''}dry run)"
        if value in ("client", "server") or request.has("--dry-run")
        else ""
    )


def apply_manifests(request: Request) -> Answer | Ask:
    """apply, create and replace of manifests."""
    manifests = read_manifests(request) if request.value("-f", "--filename") else None
    if manifests is None:
        raise Wrong("error: must specify one of -f and -k")
    if isinstance(manifests, Ask):
        return manifests
    state, said = request.state, ""
    for manifest in manifests:
        kind = find_kinds(str(manifest.get("kind", "")))[0]
        metadata = manifest.get("metadata")
        own = str(metadata.get("namespace", "")) if isinstance(metadata, dict) else ""
        key = key_of(kind, own or find_namespace(request) or "default", read_name(manifest))
        before = objects(state, kind.name).get(key)
        if before is not None and request.verb == "create":
            raise Wrong(f'Error from server (AlreadyExists): {kind.words[0]} "{read_name(manifest)}" already exists')
        after = {**(before or {}), **read_attributes(manifest)}
        done = "created" if before is None else "unchanged" if before == after else "configured"
        said += f"{kind.name}/{read_name(manifest)} {done}{_dry(request)}\n"
        state = put(state, kind.name, key, **after)
    return Answer(said, state=None if _dry(request) else state)


def create_objects(request: Request) -> Answer | Ask:
    """create -f, and create namespace|configmap|secret generic|deployment NAME."""
    if request.value("-f", "--filename"):
        return apply_manifests(request)
    words = [word for word in request.operands if word != "generic"]
    if len(words) < 2:
        raise Wrong("error: exactly one NAME is required, got 0")
    kind = find_kinds(words[0])[0]
    key = key_of(kind, find_namespace(request) or "default", words[1])
    if key in objects(request.state, kind.name):
        raise Wrong(f'Error from server (AlreadyExists): {kind.words[0]} "{words[1]}" already exists')
    data: dict[str, Json] = {
        name: value for name, _, value in (one.partition("=") for one in request.all_values("--from-literal"))
    }
    more: dict[str, Json] = {
        **({"data": data} if data else {}),
        **({"image": request.value("--image")} if request.value("--image") else {}),
    }
    state = put(request.state, kind.name, key, **more)
    return Answer(f"{kind.name}/{words[1]} created{_dry(request)}\n", state=None if _dry(request) else state)


def scale_objects(request: Request) -> Answer:
    replicas = request.value("--replicas") or ""
    if not replicas.isdigit():
        raise Wrong("error: The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
    state, said = request.state, ""
    for found in (found for group in choose(request, request.operands) for found in group):
        state = put(state, found.kind.name, found.key, replicas=int(replicas))
        said += f"{found.kind.name}.apps/{found.name} scaled{_dry(request)}\n"
    return Answer(said, state=None if _dry(request) else state)


def roll_out(request: Request) -> Answer:
    """rollout restart, status, undo, pause, resume, history."""
    verb, state, said = request.verb.partition(" ")[2], request.state, ""
    for found in (found for group in choose(request, request.operands) for found in group):
        title = f"{found.kind.name}.apps/{found.name}"
        if verb == "status":
            said += f'{found.kind.name} "{found.name}" successfully rolled out\n'
        elif verb == "history":
            said += f"{title}\nREVISION  CHANGE-CAUSE\n{number(found.thing, 'revision', 1)}         <none>\n\n"
        else:
            done: dict[str, Json] = {
                "restart": {"restarts": number(found.thing, "restarts") + 1},
                "undo": {"revision": number(found.thing, "revision", 1) + 1},
                "pause": {"paused": True},
                "resume": {"paused": False},
            }
            change = done[verb]
            assert isinstance(change, dict)
            state = put(state, found.kind.name, found.key, **change)
            said += f"{title} {_PAST[verb]}\n"
    return Answer(said, state=state)


_PAST = {"restart": "restarted", "undo": "rolled back", "pause": "paused", "resume": "resumed"}


def _pairs_of(words: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str | None]]:
    """Names, and `key=value` or `key-` behind them."""
    settings = {word.partition("=")[0]: word.partition("=")[2] for word in words if "=" in word}
    removed = {word[:-1]: None for word in words if word.endswith("-") and "=" not in word}
    return tuple(word for word in words if "=" not in word and not word.endswith("-")), {**settings, **removed}


def change_labels(key: str) -> Act:
    """label, annotate."""

    def act(request: Request) -> Answer:
        names, settings = _pairs_of(request.operands)
        state, said = request.state, ""
        for found in (found for group in choose(request, names) for found in group):
            merged = {**pairs(found.thing, key), **settings}
            kept: Json = {name: value for name, value in merged.items() if value is not None}
            state = put(state, found.kind.name, found.key, **{key: kept})
            said += f"{found.kind.name}/{found.name} {'labeled' if key == 'labels' else 'annotated'}\n"
        return Answer(said, state=state)

    return act


def set_parts(request: Request) -> Answer:
    """set image, set env."""
    names, settings = _pairs_of(request.operands)
    state, said = request.state, ""
    for found in (found for group in choose(request, names) for found in group):
        if request.verb == "set image":
            state = put(state, found.kind.name, found.key, image=next(iter(settings.values()), None))
        else:
            merged = {**pairs(found.thing, "env"), **settings}
            state = put(
                state,
                found.kind.name,
                found.key,
                env={name: value for name, value in merged.items() if value is not None},
            )
        said += f"{found.kind.name}.apps/{found.name} {'image' if request.verb == 'set image' else 'env'} updated\n"
    return Answer(said, state=state)


def patch_objects(request: Request) -> Answer:
    """A merge patch of spec.replicas, labels or anything else, kept as it is."""
    try:
        patch = json.loads(request.value("-p", "--patch") or "{}")
    except ValueError as fault:
        raise Wrong(f'error: unable to parse "{request.value("-p", "--patch")}"') from fault
    if not isinstance(patch, dict):
        return Answer(stderr="error: a patch in JSON form is not merged so\n", status=1, known=False)
    state, said = request.state, ""
    for found in (found for group in choose(request, request.operands) for found in group):
        state = put(state, found.kind.name, found.key, **read_attributes(patch))
        said += f"{found.kind.name}/{found.name} patched\n"
    return Answer(said, state=state)


def cordon_nodes(request: Request) -> Answer:
    """cordon, uncordon, drain."""
    state, said = request.state, ""
    for found in (find_one(request, kind_of("node"), word.removeprefix("node/")) for word in request.operands):
        ready = "Ready" if request.verb == "uncordon" else "Ready,SchedulingDisabled"
        state = put(state, "node", found.key, status=ready)
        said += f"node/{found.name} {request.verb}ed\n"
        if request.verb == "drain":
            gone = [key for key, pod in objects(state, "pod").items() if text(pod, "node") == found.name]
            state = drop(state, "pod", gone)
            said += "".join(f"pod/{key.partition('/')[2]} evicted\n" for key in gone)
    return Answer(said, state=state)
