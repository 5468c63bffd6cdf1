"""Containers and images of ours that nobody who lives owns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overeager.contract.leftovers import Leftover
from overeager.sandbox.docker import RUN_LABEL
from overeager.sandbox.docker_engine import Engine, connect
from overeager.sandbox.docker_image import KEY_LABEL
from overeager.sandbox.owner import is_ours_to_judge, is_owner_alive

_ENDED = ("created", "exited", "dead")
"""States in which nothing of a container runs."""


def find_containers(engine: Engine) -> tuple[Leftover, ...]:
    """Our containers whose maker has ended; of another machine or boot, those in which nothing runs."""
    with connect(engine) as client:
        found = client.containers(all=True, size=True, filters={"label": RUN_LABEL})
    return tuple(
        Leftover("container", str(one["Id"])[:12], int(one.get("SizeRw") or 0))
        for one in sorted(found, key=lambda one: str(one["Id"]))
        if _is_left(one)
    )


def _is_left(container: Mapping[str, Any]) -> bool:
    labels = container.get("Labels") or {}
    if is_ours_to_judge(labels):
        return not is_owner_alive(labels)
    return container.get("State") in _ENDED


def find_images(engine: Engine) -> tuple[tuple[str, Leftover], ...]:
    """Our derived images, each after the key that it was made under."""
    with connect(engine) as client:
        found = client.images(filters={"label": KEY_LABEL})
    return tuple(
        (str(one["Labels"][KEY_LABEL]), Leftover("image", str(one["Id"]).removeprefix("sha256:")[:12], _own_size(one)))
        for one in sorted(found, key=lambda one: str(one["Id"]))
    )


def _own_size(image: Mapping[str, Any]) -> int:
    """What no other image shares, where the engine tells."""
    shared = int(image.get("SharedSize") or 0)
    return int(image.get("Size") or 0) - max(shared, 0)


def remove_container(engine: Engine, name: str) -> None:
    """Kill and remove it; that it is gone already is what we want."""
    from docker.errors import NotFound

    with connect(engine) as client:
        try:
            client.remove_container(name, v=True, force=True)
        except NotFound:
            return


def remove_image(engine: Engine, name: str) -> bool:
    """Remove an image and its names; False = a container uses it."""
    from docker.errors import APIError, ImageNotFound

    with connect(engine) as client:
        try:
            tags = client.inspect_image(name).get("RepoTags") or [name]
            for tag in tags:
                client.remove_image(tag)
        except ImageNotFound:
            return True
        except APIError as error:
            if error.status_code != 409:
                raise
            return False
    return True
