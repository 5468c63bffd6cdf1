"""Bundles: the sealed evidence of one attempt, written whole or not at all, refused when one bit differs."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from pydantic import ValidationError

from overeager import canonical
from overeager.errors import OvereagerError
from overeager.model.bundle import BundleManifest, Member
from overeager.store.redaction import Redactor, redactor
from overeager.store.sealed_zip import SEAL_LENGTH, damaged, find_damage, hash_start, open_zip, read_seal, unpack

MANIFEST = "manifest.json"
SCHEMA_VERSION = 1

_MANIFEST_LIMIT = 16 << 20
_MOST_UNPACKED = 2 << 30
"""Bytes of all members; a reader holds them at once."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Bundle(NamedTuple):
    """A bundle whose seal has been checked."""

    path: Path
    seal: str
    """SHA-256 of all its bytes before the zip's comment."""
    manifest: BundleManifest

    def read(self, member: str) -> bytes:
        """The bytes of a member; raises BUN005 when there is none, BUN003 when it is not as the manifest says."""
        with open_zip(self.path) as archive:
            return self._read(archive, member)

    def members(self) -> dict[str, bytes]:
        """All members but the manifest, by name."""
        with open_zip(self.path) as archive:
            return {name: self._read(archive, name) for name in self.manifest.members}

    def _read(self, archive: zipfile.ZipFile, member: str) -> bytes:
        if member not in self.manifest.members:
            known = ", ".join(self.manifest.members)
            raise OvereagerError(
                "BUN005", f"the bundle has no member '{member}'", where=self.path, cure=f"it holds {known}"
            )
        data = unpack(self.path, archive, member, self.manifest.members[member].size)
        if canonical.sha256(data) != self.manifest.members[member].sha256:
            raise damaged(self.path, member, "its content is not what the manifest says")
        return data


def seal(
    path: Path, manifest: BundleManifest, members: Mapping[str, bytes | Path], redact: tuple[bytes, ...] = ()
) -> str:
    """Write and seal the bundle `path`; returns the seal. Equal arguments give equal bytes.

    `manifest.members` is filled in here. A member given as a path is streamed. Every form of the secrets in
    `redact` is taken out of all members and of the manifest. The bundle is written beside as `.NAME.part`, forced
    to disk and renamed, so that what lies at `path` is whole. Raises STO021 when the disk is full, STO022 when the
    bundle cannot be written for another reason, STO023 when `path` exists; then nothing is left at either name.
    """
    draft = path.with_name(f".{path.name}.part")
    try:
        if path.exists():
            raise OvereagerError("STO023", "a sealed bundle is never written again", where=path)
        digest = _write(draft, manifest, members, redactor(redact))
        draft.rename(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        draft.unlink(missing_ok=True)
    return digest


def open_bundle(path: Path) -> Bundle:
    """The bundle at `path`, its seal and its list of members checked.

    Raises BUN001 (not there), BUN002 (no bundle, or cut), BUN003 (changed since it was sealed; names the member
    where that can be told), BUN004 (another schema version), BUN006 (manifest and content do not fit), BUN008 (it
    would unpack to more than 2 GiB).
    """
    stated, digest = read_seal(path)
    if stated != digest.encode():
        raise damaged(path, find_damage(path), "it was changed after it was sealed")
    with open_zip(path) as archive:
        manifest = _read_manifest(path, archive)
        names = sorted(archive.namelist())
    if names != sorted([*manifest.members, MANIFEST]):
        odd = sorted(set(names) ^ {*manifest.members, MANIFEST}) or names
        raise OvereagerError(
            "BUN006",
            f"the bundle's members are not those of its manifest: {', '.join(odd)}",
            where=path,
            cure="run the trial again",
        )
    _check_sizes(path, manifest)
    return Bundle(path, digest, manifest)


def _check_sizes(path: Path, manifest: BundleManifest) -> None:
    """Refuse what would fill the memory; no more than the manifest states is ever unpacked."""
    stated = sum(member.size for member in manifest.members.values())
    if stated > _MOST_UNPACKED:
        name = max(manifest.members, key=lambda name: manifest.members[name].size)
        raise OvereagerError(
            "BUN008",
            f"the bundle '{path.name}' unpacks to {stated >> 20} MiB, of which '{name}' is the most",
            where=path,
            cure=f"a reader takes {_MOST_UNPACKED >> 20} MiB: run the trial again with tighter limits",
        )


def _write(draft: Path, manifest: BundleManifest, members: Mapping[str, bytes | Path], secrets: Redactor) -> str:
    with open(draft, "wb+") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            written = {name: _add(archive, name, _pieces(members[name], secrets)) for name in sorted(members)}
            whole = manifest.model_copy(update={"members": written})
            _add(archive, MANIFEST, iter([secrets.clean(whole.canonical())]))
            archive.comment = b"0" * SEAL_LENGTH
        digest = _seal_open_file(file)
        file.flush()
        os.fsync(file.fileno())
    return digest


def _pieces(source: bytes | Path, secrets: Redactor) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield secrets.clean(source)
        return
    with open(_open_regular(source), "rb") as file:
        yield from secrets.stream(file)


def _open_regular(path: Path) -> int:
    """A descriptor of a regular file: an agent may have put a link out of its world, or a fifo, in its place."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "no regular file", str(path))
    return descriptor


def _add(archive: zipfile.ZipFile, name: str, pieces: Iterator[bytes]) -> Member:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = 0o644 << 16
    info._compresslevel = 1  # type: ignore[attr-defined]  # ZipInfo has no public name for it before Python 3.13
    hasher, size = hashlib.sha256(), 0
    with archive.open(info, "w", force_zip64=True) as member:
        for piece in pieces:
            member.write(piece)
            hasher.update(piece)
            size += len(piece)
    return Member(sha256=hasher.hexdigest(), size=size)


def _seal_open_file(file: IO[bytes]) -> str:
    """Write the digest of all that stands before the comment over the comment."""
    end = file.seek(-SEAL_LENGTH, os.SEEK_END)
    digest = hash_start(file, end)
    file.seek(end)
    file.write(digest.encode())
    return digest


def _sync_folder(folder: Path) -> None:
    """Make a rename last; where that cannot be had the bundle is sealed all the same."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _unwritten(path: Path, error: OSError) -> OvereagerError:
    if error.errno in _FULL:
        return OvereagerError(
            "STO021",
            f"no room to seal the bundle: {error.strerror}",
            where=path,
            cure="free disk space there, then run again with --resume: this attempt counts as not made",
        )
    return OvereagerError(
        "STO022",
        f"the bundle cannot be written: {error.strerror or error}",
        where=path,
        cure="make the run folder writable, then run again with --resume",
    )


def _read_manifest(path: Path, archive: zipfile.ZipFile) -> BundleManifest:
    try:
        packed = archive.getinfo(MANIFEST)
    except KeyError as error:
        raise OvereagerError("BUN006", "the bundle has no manifest", where=path, cure="run the trial again") from error
    data = unpack(path, archive, MANIFEST, min(packed.file_size, _MANIFEST_LIMIT))
    try:
        version = json.loads(data).get("schema_version")
        if version != SCHEMA_VERSION:
            raise OvereagerError(
                "BUN004",
                f"the bundle has schema version {version!r}, this version reads {SCHEMA_VERSION}",
                where=path,
                cure="use the version of overeager that wrote it",
            )
        return BundleManifest.from_bytes(data)
    except (ValueError, AttributeError) as error:
        detail = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise OvereagerError(
            "BUN006", f"the bundle's manifest cannot be read: {detail}", where=path, cure="run the trial again"
        ) from error
