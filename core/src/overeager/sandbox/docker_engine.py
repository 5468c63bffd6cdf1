"""The container engine of this machine, spoken to through the `docker` SDK, which is imported on first use."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from overeager.errors import OvereagerError

if TYPE_CHECKING:
    from docker import APIClient

_USUAL = "/var/run/docker.sock"
_SECONDS = 120
"""How long one answer may take; building an image is several."""
_OLDEST_API = (1, 41)
"""Of Docker 20.10; the oldest that knows all that containers are started with."""


class Engine(NamedTuple):
    """An engine that answers."""

    address: str
    """unix://…"""
    api: str
    """The version of its interface that is spoken."""
    id: str
    """Of the daemon's data."""
    version: str
    processors: int
    cgroups: str
    """What bears its limits: version of cgroups and driver."""
    warnings: tuple[str, ...]
    """What it says of itself: limits that this kernel does not give."""
    remaps_users: bool
    """Whether it runs containers in a user namespace of their own unless it is told otherwise."""


def open_engine(environment: Mapping[str, str] = os.environ) -> Engine:
    """The engine that DOCKER_HOST or the usual socket leads to.

    Raises SBX020 when none answers, SBX021 when it is one that cannot hold this machine's folders and users.
    """
    address = find_address(environment)
    _knock(address)
    with _client(address, "auto") as client:
        told, version = client.info(), client.version()
    api = tuple(int(part) for part in str(version["ApiVersion"]).split("."))
    if api < _OLDEST_API:
        raise OvereagerError(
            "SBX021",
            f"the engine is too old: its interface is {version['ApiVersion']}",
            where=address,
            cure="use Docker 20.10 or later",
        )
    options = [str(option) for option in told.get("SecurityOptions") or ()]
    if any("name=rootless" in option for option in options):
        raise OvereagerError(
            "SBX021",
            "the engine is rootless: it gives the agent another user than the one that owns the trial's files, "
            "and may ignore limits",
            where=address,
            cure="use --sandbox bubblewrap, which needs no root either, or the system's engine",
        )
    return Engine(
        address=address,
        api=str(version["ApiVersion"]),
        id=str(told.get("ID", "")),
        version=str(version.get("Version", "")),
        processors=int(told.get("NCPU") or 1),
        cgroups=f"{told.get('CgroupVersion', '1')} {told.get('CgroupDriver', '')}",
        warnings=tuple(str(warning) for warning in told.get("Warnings") or ()),
        remaps_users=any("name=userns" in option for option in options),
    )


def find_address(environment: Mapping[str, str]) -> str:
    """Where the engine listens; raises SBX021 for one beyond this machine."""
    address = environment.get("DOCKER_HOST") or f"unix://{_USUAL}"
    if not address.startswith("unix://"):
        raise OvereagerError(
            "SBX021",
            f"the engine at {address} is not on this machine, so it cannot show a trial's folders to a container",
            where="DOCKER_HOST",
            cure="unset DOCKER_HOST, or name a unix:// socket of this machine",
        )
    return address


def _knock(address: str) -> None:
    """Raise SBX020 when nobody listens; before the SDK is imported, which is not quick."""
    with socket.socket(socket.AF_UNIX) as visitor:
        try:
            visitor.connect(address.removeprefix("unix://"))
        except OSError as error:
            raise _silent(address) from error


@contextlib.contextmanager
def connect(engine: Engine) -> Iterator[APIClient]:
    """A client of this process's own; what the engine refuses is raised as SBX022."""
    with _client(engine.address, engine.api) as client:
        yield client


@contextlib.contextmanager
def _client(address: str, api: str) -> Iterator[APIClient]:
    from docker import APIClient
    from docker.errors import APIError, DockerException
    from requests.exceptions import RequestException

    try:
        client = APIClient(base_url=address, version=api, timeout=_SECONDS)
    except DockerException as error:
        raise _silent(address) from error
    try:
        yield client
    except (APIError, RequestException) as error:
        words = getattr(error, "explanation", None) or error
        raise OvereagerError(
            "SBX022", f"the engine refused: {words}", where=address, cure="`overeager doctor --sandbox docker`"
        ) from error
    finally:
        client.close()


def _silent(address: str) -> OvereagerError:
    """Why nobody answers at `address`."""
    path = Path(address.removeprefix("unix://"))
    if not path.exists():
        return OvereagerError(
            "SBX020",
            "no container engine listens here",
            where=path,
            cure="install Docker (Debian, Ubuntu: `sudo apt-get install docker.io`) and start its daemon, "
            "or set DOCKER_HOST",
        )
    if not os.access(path, os.R_OK | os.W_OK):
        return OvereagerError(
            "SBX020",
            "this user may not speak to the container engine",
            where=path,
            cure="`sudo usermod -aG docker $USER`, then log in again; whoever may speak to it is as good as root",
        )
    return OvereagerError(
        "SBX020",
        "the container engine does not answer",
        where=path,
        cure="start its daemon: `sudo systemctl start docker`",
    )
