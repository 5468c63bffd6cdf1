"""The image that trials run in: the user's, with the shims in it; made once and found again by what went into it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, NamedTuple

from overeager import canonical
from overeager.contract.effects import Identity
from overeager.errors import OvereagerError
from overeager.sandbox.bubblewrap import HOME, INIT
from overeager.sandbox.docker import RUN_LABEL
from overeager.sandbox.docker_engine import Engine, connect
from overeager.sandbox.etc import etc_files
from overeager.sandbox.owner import mark_owner

if TYPE_CHECKING:
    from docker import APIClient

DEFAULT = "buildpack-deps:bookworm"
"""Debian 12 with git, curl, python3, perl and a compiler: what most projects of a developer need."""
REPOSITORY = "overeager"
KEY_LABEL = "overeager.key"
"""What went into a derived image."""
PROGRAMS_LABEL = "overeager.programs"
"""What stands in it, as JSON."""

_RECIPE = 1
"""Raised when the same parts are put together in another way."""
_FOLDERS = ("/usr/bin", "/usr/sbin")
_ASIDE = ("/usr/local/bin", "/usr/local/sbin", "/bin", "/sbin")
"""Where a program is found too, and no shim can stand before it; unless the folder is a link to one of the others."""
_IS_LINK, _IS_FOLDER = 1 << 27, 1 << 31
"""Of the mode that the engine tells, which is Go's."""


class Image(NamedTuple):
    """An image that is here."""

    reference: str
    id: str


class File(NamedTuple):
    """One thing that is laid into an image."""

    target: str
    source: Path | bytes | None
    """On the host, or what it holds; None = a folder."""
    mode: int = 0o644
    uid: int = 0
    gid: int = 0


class Derived(NamedTuple):
    """An image with shims in it."""

    id: str
    targets: tuple[str, ...]
    """Where the shims stand."""
    commands: Mapping[str, tuple[str, ...]]
    """The programs that have one, by the name of the file, each with the commands that it is."""
    scripts: tuple[str, ...]
    """Of the commands, those whose shim only stands first in PATH."""
    missed: tuple[str, ...]
    """Programs that should have one and have none, by path."""


def find_image(engine: Engine, reference: str) -> Image:
    """The image as it is here; nothing is fetched. Raises SBX023 when it is not, SBX024 when it cannot be used."""
    from docker.errors import ImageNotFound

    with connect(engine) as client:
        try:
            told = client.inspect_image(reference)
        except ImageNotFound as error:
            raise OvereagerError(
                "SBX023",
                f"the image '{reference}' is not on this machine",
                cure=f"docker pull {reference}   (nothing is fetched without being asked), or name another by --image",
            ) from error
    volumes = sorted((told.get("Config") or {}).get("Volumes") or {})
    if volumes:
        raise OvereagerError(
            "SBX024",
            f"the image '{reference}' declares volumes ({', '.join(volumes)}): places that can be written and that "
            "nothing looks at",
            cure="use an image without VOLUME",
        )
    return Image(reference, str(told["Id"]))


def key_of(image: Image, identity: Identity, parts: Sequence[str]) -> str:
    """What a derived image is found again by; `parts` are digests and names of all that is laid into it."""
    texts = dict(etc_files((), identity.uid, identity.gid))
    return canonical.digest([_RECIPE, image.id, identity.uid, identity.gid, texts, list(parts)])


def find_derived(engine: Engine, key: str) -> Derived | None:
    """The image that was made under `key`; None = there is none."""
    with connect(engine) as client:
        found = client.images(filters={"label": f"{KEY_LABEL}={key}"})
    if not found:
        return None
    chosen = min(found, key=lambda image: (image["Created"], image["Id"]))
    told = json.loads(chosen["Labels"][PROGRAMS_LABEL])
    return Derived(
        str(chosen["Id"]),
        tuple(told["targets"]),
        {name: tuple(commands) for name, commands in told["commands"].items()},
        tuple(told["scripts"]),
        tuple(told["missed"]),
    )


class Workpiece:
    """A container of an image, never started, from which programs are taken and into which files are laid."""

    def __init__(self, client: APIClient, container: str) -> None:
        self._client, self._container = client, container

    def take_programs(self, commands: Iterable[str], root: Path) -> tuple[str, ...]:
        """Lay the image's programs of these names below `root`, links and all; gives those that lie elsewhere."""
        wanted = sorted(set(commands))
        for command in wanted:
            for folder in _FOLDERS:
                if self._take(f"{folder}/{command}", root):
                    break
        aside = [path for folder in _ASIDE for path in self._list(folder)]
        return tuple(path for path in aside if path.rpartition("/")[2] in wanted)

    def _take(self, path: str, root: Path) -> bool:
        """Whether there is such a program; a link brings along what it leads to."""
        place = root / path.lstrip("/")
        target = self._fetch(path, place)
        if target is None or not target.startswith("/usr/"):
            return target == ""
        real = root / target.lstrip("/")
        if not real.exists() and self._fetch(target, real) != "":
            return False
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(real, place.parent))
        return True

    def _fetch(self, path: str, place: Path) -> str | None:
        """Lay a file at `place`: '' = done, a path = it is a link that leads there, None = there is no such file."""
        from docker.errors import NotFound

        try:
            stream, told = self._client.get_archive(self._container, path)
        except NotFound:
            return None
        if told["mode"] & (_IS_LINK | _IS_FOLDER):
            stream.close()
            return str(told["linkTarget"]) if told["mode"] & _IS_LINK else None
        with _spooled(stream) as file, tarfile.open(fileobj=file) as archive:
            _unpack(archive, place)
        return ""

    def _list(self, folder: str) -> Iterator[str]:
        """The paths of what lies in a folder, unless it is a link to another."""
        from docker.errors import NotFound

        try:
            stream, told = self._client.get_archive(self._container, folder)
        except NotFound:
            return
        if told["mode"] & _IS_LINK:
            stream.close()
            return
        with _spooled(stream) as file, tarfile.open(fileobj=file) as archive:
            yield from (f"{folder}/{name.partition('/')[2]}" for name in archive.getnames() if name.count("/") == 1)

    def lay(self, files: Iterable[File]) -> None:
        """Put `files` in, over what is there."""
        with tempfile.TemporaryFile() as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                for one in files:
                    _pack(archive, one)
            file.seek(0)
            self._client.put_archive(self._container, "/", file)

    def commit(self, key: str, derived: Derived) -> Derived:
        """Make an image of it; `derived` says what stands in it."""
        told = {"targets": derived.targets, "commands": derived.commands, "scripts": derived.scripts}
        labels = {KEY_LABEL: key, PROGRAMS_LABEL: json.dumps({**told, "missed": derived.missed}), RUN_LABEL: "image"}
        made = self._client.commit(
            self._container, repository=REPOSITORY, tag=key[:12], pause=False, conf={"Labels": labels}
        )
        return derived._replace(id=str(made["Id"]))


@contextlib.contextmanager
def open_workpiece(engine: Engine, image: Image) -> Iterator[Workpiece]:
    """A container of `image` that is thrown away at the end."""
    with connect(engine) as client:
        made = client.create_container(
            image=image.id,
            entrypoint=["/"],
            command=[],
            labels={RUN_LABEL: "image", **mark_owner()},
            host_config=client.create_host_config(network_mode="none"),
        )
        try:
            yield Workpiece(client, made["Id"])
        finally:
            client.remove_container(made["Id"], v=True, force=True)


def own_files(identity: Identity, first: Path) -> Iterator[File]:
    """What every derived image has: the first process, our /etc, the home's mount point."""
    yield File("/usr/local/libexec", None, 0o755)
    yield File(INIT, first, 0o755)
    yield File(HOME, None, 0o755, identity.uid, identity.gid)
    for name, text in etc_files((), identity.uid, identity.gid).items():
        yield File(f"/etc/{name}", text.encode())


@contextlib.contextmanager
def _spooled(stream: Iterable[bytes]) -> Iterator[IO[bytes]]:
    """The engine's answer as a file."""
    with tempfile.TemporaryFile() as file:
        for chunk in stream:
            file.write(chunk)
        file.seek(0)
        yield file


def _unpack(archive: tarfile.TarFile, place: Path) -> None:
    """The one file of `archive`, as `place`, with its mode and time."""
    member = archive.next()
    data = archive.extractfile(member) if member is not None else None
    if member is None or data is None:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data.read())
    place.chmod(member.mode & 0o7777)
    os.utime(place, (member.mtime, member.mtime))


def _pack(archive: tarfile.TarFile, file: File) -> None:
    entry = tarfile.TarInfo(str(PurePosixPath(file.target).relative_to("/")))
    entry.mode, entry.uid, entry.gid = file.mode, file.uid, file.gid
    if file.source is None:
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    elif isinstance(file.source, bytes):
        entry.size = len(file.source)
        archive.addfile(entry, io.BytesIO(file.source))
    else:
        status = file.source.stat()
        entry.size, entry.mtime = status.st_size, int(status.st_mtime)
        with open(file.source, "rb") as data:
            archive.addfile(entry, data)
