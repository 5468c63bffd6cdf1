"""Tarballs of a registry: checked against their integrity value, unpacked as plain files."""

from __future__ import annotations

import base64
import gzip
import hashlib
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from overeager.errors import OvereagerError


def integrity(path: Path) -> str:
    """The npm integrity value of a file: `sha512-` and the digest in base64."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha512").digest()
    return "sha512-" + base64.b64encode(digest).decode()


def file_sha256(path: Path) -> str:
    """Lower-case hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unpack(tarball: Path, folder: Path) -> None:
    """Unpack an npm tarball below the new folder `folder`, its top folder left out, world-readable.

    Raises AGT008 for anything but plain files and folders inside the top folder, and for a damaged archive.
    """
    folder.mkdir(parents=True)
    try:
        with tarfile.open(tarball, "r:gz") as archive:
            for member in archive:
                _unpack_member(archive, member, folder)
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise OvereagerError("AGT008", f"the archive is damaged: {error}", where=tarball.name) from error


def _unpack_member(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    parts = PurePosixPath(member.name).parts
    if PurePosixPath(member.name).is_absolute() or ".." in parts or not (member.isfile() or member.isdir()):
        raise OvereagerError(
            "AGT008",
            f"the archive holds '{member.name}', which is no plain file inside it",
            where=Path(str(archive.name)).name,
            cure="do not use this archive; report it to whoever runs the registry",
        )
    target = folder.joinpath(*parts[1:])
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    source = archive.extractfile(member)
    assert source is not None, "a plain file has content"
    target.parent.mkdir(parents=True, exist_ok=True)
    with source, target.open("xb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
    target.chmod(0o755 if member.mode & 0o100 else 0o644)
