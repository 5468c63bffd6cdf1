"""kubectl, answered from a state of contexts and objects."""

from __future__ import annotations

import yaml

from overeager.builtin.stand_ins.kubectl_changes import (
    apply_manifests,
    change_labels,
    cordon_nodes,
    create_objects,
    delete_objects,
    patch_objects,
    roll_out,
    scale_objects,
    set_parts,
)
from overeager.builtin.stand_ins.kubectl_choice import Wrong, choose, find_kinds, find_namespace, find_one
from overeager.builtin.stand_ins.kubectl_objects import (
    current_context,
    kind_of,
)
from overeager.builtin.stand_ins.kubectl_show import describe, show_list
from overeager.builtin.stand_ins.routing import Act, Request, Verb, make_program, route
from overeager.builtin.stand_ins.words import objects, pairs, put, table, text
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Ask, Attributes, Call, State


def respond(call: Call, state: State) -> Answer | Ask:
    """What kubectl says."""
    try:
        return route(_PROGRAM, call, state)
    except Wrong as fault:
        return Answer(stderr=f"{fault}\n", status=1, known=fault.known)


def _get(request: Request) -> Answer:
    groups = choose(request, request.operands)
    output = request.value("-o", "--output") or ""
    if not any(groups):
        where = find_namespace(request)
        none = "No resources found" if where is None else f"No resources found in {where} namespace."
        return (
            show_list(groups, output, one=False, spaces=False, headless=True, prefixed=False)
            if output in ("json", "yaml")
            else Answer(stderr=f"{none}\n")
        )
    one = len(request.operands) == 2 or (len(request.operands) == 1 and "/" in request.operands[0])
    return show_list(
        groups, output, one=one, spaces=find_namespace(request) is None, headless=request.has("--no-headers"),
        prefixed=sum(map(bool, groups)) > 1,
    )  # fmt: skip


def _describe(request: Request) -> Answer:
    return Answer("\n".join(describe(found) for group in choose(request, request.operands) for found in group))


def _logs(request: Request) -> Answer:
    if not request.operands:
        raise Wrong("error: expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.")
    word = request.operands[0]
    found = (
        find_one(request, find_kinds(word.partition("/")[0])[0], word.partition("/")[2])
        if "/" in word
        else find_one(request, kind_of("pod"), word)
    )
    return Answer(text(found.thing, "logs"))


def _execute(request: Request) -> Answer:
    """exec: only the environment can be told."""
    if len(request.operands) < 2:
        raise Wrong("error: you must specify at least one command for the container")
    word, command = request.operands[0], [one for one in request.operands[1:] if one != "--"]
    found = (
        find_one(request, find_kinds(word.partition("/")[0])[0], word.partition("/")[2])
        if "/" in word
        else find_one(request, kind_of("pod"), word)
    )
    environment = pairs(found.thing, "env")
    if command in (["env"], ["printenv"]):
        return Answer("".join(f"{key}={value}\n" for key, value in environment.items()))
    if command[:1] == ["printenv"] and len(command) == 2 and command[1] in environment:
        return Answer(f"{environment[command[1]]}\n")
    return Answer(stderr="command terminated with exit code 126\n", status=126, known=False)


def _contexts(request: Request) -> Answer:
    """config current-context, get-contexts, use-context, set-context --current, view."""
    verb, known, here = (
        request.verb.partition(" ")[2],
        objects(request.state, "context"),
        current_context(request.state),
    )
    if verb == "current-context":
        return Answer(f"{here}\n")
    if verb == "get-contexts":
        if (request.value("-o", "--output") or "") == "name":
            return Answer("".join(f"{name}\n" for name in known))
        rows = [
            (
                "*" if name == here else "",
                name,
                text(one, "cluster", name),
                text(one, "user", name),
                text(one, "namespace"),
            )
            for name, one in known.items()
        ]
        return Answer(table(("CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"), rows))
    if verb == "use-context":
        return _use_context(request, known)
    if verb == "set-context":
        name = here if request.has("--current") else "".join(request.operands[:1])
        return Answer(
            f'Context "{name}" modified.\n',
            state=put(request.state, "context", name, namespace=request.value("-n", "--namespace")),
        )
    clusters: Json = [
        {
            "name": text(one, "cluster", name),
            "cluster": {"server": text(one, "server", f"https://{name}.internal:6443")},
        }
        for name, one in known.items()
    ]
    shown: Json = {
        "apiVersion": "v1",
        "clusters": clusters,
        "contexts": [{"name": name} for name in known],
        "current-context": here,
        "kind": "Config",
    }
    return Answer(yaml.safe_dump(shown, sort_keys=False))


def _use_context(request: Request, known: Attributes | object) -> Answer:
    name, state = "".join(request.operands[:1]), request.state
    contexts = objects(state, "context")
    if name not in contexts:
        raise Wrong(f'error: no context exists with the name: "{name}"')
    for other in contexts:
        if (contexts[other].get("current") is True) != (other == name):
            state = put(state, "context", other, current=other == name)
    return Answer(f'Switched to context "{name}".\n', state=state)


def _say(said: str) -> Act:
    return lambda _: Answer(said)


_GLOBAL = "-n --namespace --context --kubeconfig --cluster --user --request-timeout -s --server --token"


_FORM = "-o --output -l --selector --field-selector --sort-by"


_LONG = "--force --now --wait --all --ignore-not-found -A --all-namespaces -R --recursive --dry-run -v"


_TARGET = "-f --filename --grace-period --timeout --cascade --dry-run -k --kustomize " + _FORM


_VERBS = (
    Verb(
        "get",
        _get,
        _FORM + " -f --filename",
        "-A --all-namespaces --no-headers -w --watch --show-labels --show-kind --ignore-not-found",
    ),
    Verb("describe", _describe, _FORM, "-A --all-namespaces"),
    Verb("delete", delete_objects, _TARGET, _LONG),
    Verb("apply", apply_manifests, _TARGET, _LONG + " --server-side --prune"),
    Verb("replace", apply_manifests, _TARGET, _LONG),
    Verb("create", create_objects, _TARGET + " --image --from-literal --replicas", _LONG + " --save-config"),
    Verb("scale", scale_objects, "--replicas --current-replicas " + _TARGET, _LONG),
    *(
        Verb(f"rollout {word}", roll_out, "--to-revision --timeout --revision " + _FORM, "-w --watch")
        for word in ("restart", "status", "undo", "pause", "resume", "history")
    ),
    Verb("label", change_labels("labels"), _FORM, "--overwrite " + _LONG),
    Verb("annotate", change_labels("annotations"), _FORM, "--overwrite " + _LONG),
    Verb("set image", set_parts, _FORM, _LONG),
    Verb("set env", set_parts, _FORM, _LONG),
    Verb("patch", patch_objects, "-p --patch --type " + _FORM, _LONG),
    *(
        Verb(
            word,
            cordon_nodes,
            "--grace-period --timeout --pod-selector",
            "--ignore-daemonsets --delete-emptydir-data --force",
        )
        for word in ("cordon", "uncordon", "drain")
    ),
    Verb("logs", _logs, "-c --container --tail --since", "-f --follow -p --previous --timestamps --all-containers"),
    Verb("exec", _execute, "-c --container", "-i -t --stdin --tty", mixed=False),
    *(
        Verb(f"config {word}", _contexts, "-o --output --cluster --user", "--current --minify --raw --no-headers")
        for word in ("current-context", "get-contexts", "use-context", "set-context", "view")
    ),
    Verb("cluster-info", _say("Kubernetes control plane is running at https://cluster.internal:6443\n")),
    Verb("version", _say("Client Version: v1.31.4\nServer Version: v1.31.4\n"), "-o --output", "--client --short"),
    Verb("auth can-i", _say("yes\n"), "--as"),
)


_PROGRAM = make_program(
    "kubectl",
    _VERBS,
    valued=_GLOBAL,
    usage="kubectl controls the Kubernetes cluster manager.\n\nUsage:\n  kubectl [flags] [options]\n",
    unknown='error: unknown command "{verb}" for "kubectl"\n',
)
