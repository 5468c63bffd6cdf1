"""What docker shows: lists, logs, inspection, disk use."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable

from overeager.builtin.stand_ins.docker_objects import (
    BUILT_IN,
    find,
    id_of,
    inspect,
    is_running,
    project_of,
    users_of,
)
from overeager.builtin.stand_ins.routing import Request
from overeager.builtin.stand_ins.words import dump, fill_template, objects, pairs, table, text, texts
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Attributes

Shown = dict[str, Json]
"""What a template may name of one object."""


def list_containers(request: Request) -> Answer:
    """docker ps."""
    all_of_them = request.has("-a", "--all")
    found = [
        (name, thing)
        for name, thing in objects(request.state, "container").items()
        if (all_of_them or is_running(thing) or request.value("-f", "--filter")) and _passes(request, name, thing)
    ]
    head = ("CONTAINER ID", "IMAGE", "COMMAND", "CREATED", "STATUS", "PORTS", "NAMES")
    return _show(request, head, [_show_container(name, thing, request) for name, thing in found], "ID")


def _show_container(name: str, thing: Attributes, request: Request) -> Shown:
    long = id_of("container", name)
    running = is_running(thing)
    return {
        "ID": long if request.has("--no-trunc") else long[:12],
        "Image": text(thing, "image"),
        "Command": f'"{text(thing, "command", "docker-entrypoint.s…")}"',
        "CreatedAt": text(thing, "created", "2 weeks ago"),
        "Status": text(thing, "uptime") or ("Up 2 weeks" if running else "Exited (0) 2 weeks ago"),
        "Ports": ", ".join(texts(thing, "ports")) if running else "",
        "Names": name,
        "State": text(thing, "status", "running"),
        "Labels": ",".join(f"{key}={value}" for key, value in pairs(thing, "labels").items()),
        "Mounts": ",".join(mount.partition(":")[0] for mount in texts(thing, "volumes")),
        "Networks": ",".join(texts(thing, "networks")),
    }


def list_images(request: Request) -> Answer:
    """docker images."""
    shown = []
    for name, thing in objects(request.state, "image").items():
        repository, _, tag = name.rpartition(":") if ":" in name.rpartition("/")[2] else (name, "", "latest")
        if request.operands and not fnmatch.fnmatchcase(repository, request.operands[0].partition(":")[0]):
            continue
        if "dangling=true" in request.all_values("-f", "--filter") and not name.startswith("<none>"):
            continue
        fields: Shown = {"Repository": repository, "Tag": tag, "ID": id_of("image", name)[:12]}
        fields |= {"CreatedSince": text(thing, "created", "3 weeks ago"), "Size": text(thing, "size", "142MB")}
        shown.append(fields)
    return _show(request, ("REPOSITORY", "TAG", "IMAGE ID", "CREATED", "SIZE"), shown, "ID")


def list_volumes(request: Request) -> Answer:
    """docker volume ls."""
    shown: list[Shown] = [
        {"Driver": text(thing, "driver", "local"), "Name": name}
        for name, thing in objects(request.state, "volume").items()
        if _passes(request, name, thing) and _hangs(request, "volume", name)
    ]
    return _show(request, ("DRIVER", "VOLUME NAME"), shown, "Name")


def list_networks(request: Request) -> Answer:
    """docker network ls."""
    named = {name: {"driver": name if name != "none" else "null"} for name in BUILT_IN}
    everything = sorted({**named, **objects(request.state, "network")}.items())
    shown: list[Shown] = [
        {"ID": id_of("network", name)[:12], "Name": name, "Driver": text(thing, "driver", "bridge"), "Scope": "local"}
        for name, thing in everything
        if _passes(request, name, thing) and _hangs(request, "network", name)
    ]
    return _show(request, ("NETWORK ID", "NAME", "DRIVER", "SCOPE"), shown, "ID")


def _hangs(request: Request, kind: str, name: str) -> bool:
    """Whether it passes a filter on what nothing uses."""
    wanted = [value for value in request.all_values("-f", "--filter") if value.startswith("dangling=")]
    return not wanted or (wanted[-1] == "dangling=true") != bool(users_of(request.state, kind, name))


def _passes(request: Request, name: str, thing: Attributes) -> bool:
    for condition in request.all_values("-f", "--filter"):
        key, _, value = condition.partition("=")
        if key == "name" and value not in name:
            return False
        if key == "status" and value != text(thing, "status", "running"):
            return False
        if key == "ancestor" and text(thing, "image").partition(":")[0] != value.partition(":")[0]:
            return False
        if key == "label" and not _has_label(thing, value):
            return False
    return True


def _has_label(thing: Attributes, wanted: str) -> bool:
    key, equals, value = wanted.partition("=")
    labels = pairs(thing, "labels")
    if key == "com.docker.compose.project":
        return project_of(thing) == value if equals else bool(project_of(thing))
    return key in labels and (not equals or labels[key] == value)


def _show(request: Request, head: tuple[str, ...], shown: Iterable[Shown], own: str) -> Answer:
    """A list in the form that was asked for."""
    rows = list(shown)
    template = request.value("--format")
    if request.has("-q", "--quiet"):
        return Answer("".join(f"{row[own]}\n" for row in rows))
    if template == "json":
        template = "{{json .}}"
    if template and not template.startswith("table"):
        return Answer("".join(fill_template(template, row) + "\n" for row in rows))
    if template:
        fields = template.removeprefix("table").strip()
        names = [part.strip("{} .").upper() for part in fields.replace("\\t", "\t").split("\t")]
        return Answer(table(names, [fill_template(fields, row).split("\t") for row in rows]))
    return Answer(table(head, [[str(value) for value in row.values()][: len(head)] for row in rows]))


def show_logs(request: Request) -> Answer:
    """docker logs; following ends at the end of what is there."""
    if not request.operands:
        return Answer(stderr='"docker logs" requires exactly 1 argument.\n', status=1)
    name = find(request.state, "container", request.operands[0])
    if name is None:
        return no_such("container", request.operands[0])
    lines = text(objects(request.state, "container")[name], "logs").splitlines(keepends=True)
    tail = request.value("-n", "--tail") or "all"
    return Answer("".join(lines[-int(tail) :] if tail.isdigit() and int(tail) else [] if tail == "0" else lines))


def inspector(kinds: tuple[str, ...]) -> Callable[[Request], Answer]:
    """docker inspect, docker volume inspect and so on."""

    def act(request: Request) -> Answer:
        found: list[Json] = []
        errors = ""
        for word in request.operands:
            pair = next(((kind, name) for kind in kinds if (name := find(request.state, kind, word))), None)
            if pair is None:
                errors += f"Error: No such {kinds[0] if len(kinds) == 1 else 'object'}: {word}\n"
            else:
                found.append(inspect(*pair, objects(request.state, pair[0])[pair[1]]))
        template = request.value("-f", "--format")
        if template:
            shown = "".join(fill_template(template, one) + "\n" for one in found if isinstance(one, dict))
            return Answer(shown, errors, 1 if errors else 0, known=not _is_program(template))
        return Answer(dump(found), errors, 1 if errors else 0)

    return act


def _is_program(template: str) -> bool:
    """Whether the template does more than name fields."""
    return any(word in template for word in ("range", "if ", "index", "with ", "|"))


def show_disk_use(request: Request) -> Answer:
    """docker system df."""
    state = request.state
    rows = []
    for title, kind in (("Images", "image"), ("Containers", "container"), ("Local Volumes", "volume")):
        known = objects(state, kind)
        active = sum(map(is_running, known.values())) if kind == "container" else sum(
            bool(users_of(state, kind, name)) for name in known
        )  # fmt: skip
        rows.append((title, str(len(known)), str(active), "1.2GB" if known else "0B", "412MB (34%)" if known else "0B"))
    rows.append(("Build Cache", "0", "0", "0B", "0B"))
    return Answer(table(("TYPE", "TOTAL", "ACTIVE", "SIZE", "RECLAIMABLE"), rows, gap=5))


def no_such(kind: str, word: str, status: int = 1) -> Answer:
    """The daemon's complaint."""
    return Answer(stderr=f"Error response from daemon: {_complain(kind, word)}\n", status=status)


def _complain(kind: str, word: str) -> str:
    if kind == "volume":
        return f"get {word}: no such volume"
    return f"network {word} not found" if kind == "network" else f"No such {kind}: {word}"
