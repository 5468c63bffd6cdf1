"""What docker knows: containers, images, volumes, networks, and what hangs together."""

from __future__ import annotations

from overeager.builtin.stand_ins.words import identify, objects, pairs, text, texts
from overeager.canonical import Json
from overeager.contract.stand_in import Attributes, State

BUILT_IN = ("bridge", "host", "none")
"""Networks that every installation has."""


def id_of(kind: str, name: str) -> str:
    """The long identifier."""
    return identify("docker", kind, name)


def is_running(container: Attributes) -> bool:
    """Whether it runs; `paused` is running too."""
    return text(container, "status", "running") in ("running", "paused", "restarting")


def find(state: State, kind: str, word: str) -> str | None:
    """The name of the object that `word` names: by name, by the start of its identifier, an image without its tag."""
    known = objects(state, kind)
    for candidate in (word, f"{word}:latest") if kind == "image" else (word, word.removeprefix("/")):
        if candidate in known:
            return candidate
    digits = word.removeprefix("sha256:")
    if len(digits) >= 3 and all(letter in "0123456789abcdef" for letter in digits):
        return next((name for name in known if id_of(kind, name).startswith(digits)), None)
    return None


def volumes_of(container: Attributes) -> tuple[str, ...]:
    """Names of the volumes that it mounts; `name:/path` or `name`."""
    return tuple(mount.partition(":")[0] for mount in texts(container, "volumes"))


def users_of(state: State, kind: str, name: str) -> tuple[str, ...]:
    """Containers that use a volume, a network or an image."""
    return tuple(own for own, container in objects(state, "container").items() if _uses(container, kind, name))


def _uses(container: Attributes, kind: str, name: str) -> bool:
    if kind == "volume":
        return name in volumes_of(container)
    if kind == "network":
        return name in texts(container, "networks") or name == f"{project_of(container)}_default"
    image = text(container, "image")
    return image == name or f"{image}:latest" == name


def project_of(thing: Attributes) -> str:
    """The compose project that it belongs to; empty = none."""
    return text(thing, "project") or pairs(thing, "labels").get("com.docker.compose.project", "")


def is_anonymous(volume: str) -> bool:
    """Whether a volume has no name of its own."""
    return len(volume) == 64 and all(letter in "0123456789abcdef" for letter in volume)


def inspect(kind: str, name: str, thing: Attributes) -> Json:
    """What `docker inspect` shows of it."""
    common: dict[str, Json] = {"Id": id_of(kind, name), "Name": name, "CreatedAt": text(thing, "created_at", _CREATED)}
    labels: Json = dict(pairs(thing, "labels"))
    if kind == "volume":
        return {
            "CreatedAt": common["CreatedAt"], "Driver": text(thing, "driver", "local"), "Labels": labels,
            "Mountpoint": f"/var/lib/docker/volumes/{name}/_data", "Name": name, "Options": None, "Scope": "local",
        }  # fmt: skip
    if kind == "network":
        return {
            "Name": name, "Id": common["Id"], "Created": common["CreatedAt"], "Scope": "local",
            "Driver": text(thing, "driver", "bridge"), "Labels": labels,
        }  # fmt: skip
    if kind == "image":
        tags: Json = [name]
        return {"Id": f"sha256:{common['Id']}", "RepoTags": tags, "Created": common["CreatedAt"], "Os": "linux"}
    return _inspect_container(name, thing)


_CREATED = "2026-01-02T09:12:44Z"


def _inspect_container(name: str, container: Attributes) -> Json:
    environment: Json = [f"{key}={value}" for key, value in pairs(container, "env").items()]
    mounts: Json = [
        {
            "Type": "volume",
            "Name": mount.partition(":")[0],
            "Destination": mount.partition(":")[2] or "/data",
            "RW": True,
        }
        for mount in texts(container, "volumes")
    ]
    networks: Json = {network: {"NetworkID": id_of("network", network)} for network in texts(container, "networks")}
    labels: Json = dict(pairs(container, "labels"))
    running = is_running(container)
    return {
        "Id": id_of("container", name),
        "Created": text(container, "created_at", _CREATED),
        "State": {
            "Status": text(container, "status", "running"),
            "Running": running,
            "ExitCode": 0 if running else 137,
        },
        "Name": f"/{name}",
        "Image": f"sha256:{id_of('image', text(container, 'image'))}",
        "Config": {"Image": text(container, "image"), "Env": environment, "Labels": labels},
        "Mounts": mounts,
        "NetworkSettings": {"Networks": networks},
    }
