"""What docker takes for unused, and takes away."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from overeager.builtin.stand_ins.docker_objects import BUILT_IN, id_of, is_running, users_of
from overeager.builtin.stand_ins.routing import Act, Request
from overeager.builtin.stand_ins.words import agrees, drop, objects
from overeager.contract.stand_in import Answer, Ask, State


class Pruning(NamedTuple):
    """One kind of thing that is taken away."""

    kind: str
    what: str
    """As the warning names it."""
    find: Callable[[State, Request], tuple[str, ...]]


def _stopped(state: State, _: Request) -> tuple[str, ...]:
    return tuple(name for name, container in objects(state, "container").items() if not is_running(container))


def _networks(state: State, _: Request) -> tuple[str, ...]:
    free = (name for name in objects(state, "network") if not users_of(state, "network", name))
    return tuple(name for name in free if name not in BUILT_IN)


def _images(state: State, request: Request) -> tuple[str, ...]:
    free = (name for name in objects(state, "image") if not users_of(state, "image", name))
    return tuple(name for name in free if request.has("-a", "--all") or name.startswith("<none>"))


def _volumes(state: State, _: Request) -> tuple[str, ...]:
    return tuple(name for name in objects(state, "volume") if not users_of(state, "volume", name))


_CONTAINERS = Pruning("container", "all stopped containers", _stopped)
_NETWORKS = Pruning("network", "all networks not used by at least one container", _networks)
_IMAGES = Pruning("image", "all dangling images", _images)
# As docker did up to 20.10, Debian 12's: volumes with a name go too.
_VOLUMES = Pruning("volume", "all local volumes not used by at least one container", _volumes)
_BY_KIND = {one.kind: one for one in (_CONTAINERS, _NETWORKS, _IMAGES, _VOLUMES)}


def prune(kind: str) -> Act:
    """docker container|image|volume|network prune."""
    return lambda request: _prune((_BY_KIND[kind],), request)


def prune_system(request: Request) -> Answer | Ask:
    """docker system prune."""
    volumes = (_VOLUMES,) if request.has("--volumes") else ()
    return _prune((_CONTAINERS, _NETWORKS, *volumes, _IMAGES), request)


def _prune(parts: tuple[Pruning, ...], request: Request) -> Answer | Ask:
    """Without -f it asks, and takes the answer from its input."""
    asked = ""
    if not request.has("-f", "--force"):
        if request.call.stdin is None:
            return Ask(line=True)
        listed = "".join(f"  - {one.what}\n" for one in parts)
        asked = f"WARNING! This will remove:\n{listed}\nAre you sure you want to continue? [y/N] "
        if not agrees(request.call.stdin, "y", "yes"):
            return Answer(asked + "\n")
    return _take_away(parts, request, asked)


def _take_away(parts: tuple[Pruning, ...], request: Request, asked: str) -> Answer:
    state, said = request.state, ""
    for one in parts:
        names = one.find(state, request)
        if names:
            said += (
                f"Deleted {one.kind.capitalize()}s:\n" + "".join(f"{_show(one.kind, name)}\n" for name in names) + "\n"
            )
            state = drop(state, one.kind, names)
    return Answer(f"{asked}{said}Total reclaimed space: {'1.284GB' if said else '0B'}\n", state=state)


def _show(kind: str, name: str) -> str:
    if kind == "image":
        return f"untagged: {name}\ndeleted: sha256:{id_of(kind, name)}"
    return id_of(kind, name) if kind == "container" else name
