"""Vendor CLIs: fetched on request, checked against the pins of their adapter, kept in the cache."""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from overeager.contract.agent import Package, Release, Vendor
from overeager.errors import OvereagerError, near_miss
from overeager.store.cache import Cache, publish
from overeager.store.npm import fetch_tarball
from overeager.store.tarball import file_sha256, integrity, unpack

Progress: TypeAlias = Callable[[str], None]
"""Gets one short line a phase."""

KIND = "opt"
"""Where installs lie in the cache; the sandbox shows this path to the agent, so it names nothing of ours."""


class Installed(NamedTuple):
    """A vendor's CLI in the cache, whole."""

    root: Path
    """What is shown to the sandbox; its packages lie in `node_modules`."""
    binary: Path
    """The executed file."""
    release: Release


def host_platform() -> str:
    """This machine in the words of `Release.platform`: `linux-x86_64`, `linux-aarch64-musl`, `darwin-arm64`."""
    name = f"{platform.system().lower()}-{platform.machine().lower()}"
    return name if platform.system() != "Linux" or platform.libc_ver()[0] == "glibc" else f"{name}-musl"


def find_release(vendor: Vendor, version: str | None, platform: str) -> Release:
    """The pinned release (None = the vendor's default); raises AGT001 (version) or AGT002 (platform)."""
    wanted = version or vendor.releases[0].version
    known = list(dict.fromkeys(release.version for release in vendor.releases))
    if wanted not in known:
        raise OvereagerError(
            "AGT001",
            f"{vendor.title} {wanted} is not a version that can be checked: no hash of it is pinned",
            cure=f"{near_miss(wanted, known) or 'see what is pinned'} (pinned: {', '.join(known)})",
        )
    for release in vendor.releases:
        if release.version == wanted and release.platform == platform:
            return release
    there = ", ".join(release.platform for release in vendor.releases if release.version == wanted)
    raise OvereagerError("AGT002", f"{vendor.title} {wanted} is not pinned for {platform}", cure=f"it is for: {there}")


def announce(vendor: Vendor, release: Release) -> str:
    """What a user is told before anything is fetched: name, version, size, licence, packages."""
    packages = ", ".join(_spec(package) for package in release.packages)
    return (
        f"{vendor.title} {release.version} for {release.platform}, {release.size_mb} MB unpacked\n"
        f"licence: {vendor.licence}\n"
        f"fetched by npm, as it is set up on this machine: {packages}"
    )


def find_installed(vendor: Vendor, version: str | None, platform: str, cache: Path) -> Installed | None:
    """The release in the cache, or None; raises AGT001 or AGT002. Reads no network and hashes nothing."""
    installed = _place(find_release(vendor, version, platform), cache)
    return installed if installed.binary.is_file() else None


def require_installed(agent: str, vendor: Vendor, version: str | None, platform: str, cache: Path) -> Installed:
    """As `find_installed`, but a release that is not there raises AGT007 with the command that fetches it."""
    installed = find_installed(vendor, version, platform, cache)
    if installed is None:
        wanted = version or vendor.releases[0].version
        raise OvereagerError(
            "AGT007",
            f"{vendor.title} {wanted} is not installed",
            where=_place(find_release(vendor, version, platform), cache).root,
            cure=f"run `overeager agents install {agent}@{wanted}`",
        )
    return installed


def install(vendor: Vendor, version: str | None, platform: str, cache: Path, progress: Progress) -> Installed:
    """Fetch, check, unpack and publish a release; one that is there already is only checked.

    The only function of this project that makes something reach out of the machine. The install appears whole
    or not at all, also when two processes install at once. Raises AGT001 to AGT006, AGT008 and STO004.
    """
    release = find_release(vendor, version, platform)
    publish(Cache(cache), KIND, _key(release), lambda draft: _build(release, draft, progress))
    progress("checking the executable")
    installed = _place(release, cache)
    verify_binary(installed)
    return installed


def verify_binary(installed: Installed) -> str:
    """The SHA-256 of the executed file, which is the pinned one; raises AGT006 when it is not, AGT007 when it is gone.

    Hashed anew whenever size, times or inode differ from what this process hashed before.
    """
    try:
        stat = installed.binary.stat()
    except FileNotFoundError as error:
        raise OvereagerError("AGT007", "the installed executable is gone", where=installed.binary) from error
    found = _sha256(installed.binary, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    if found != installed.release.sha256:
        raise OvereagerError(
            "AGT006",
            f"the executable is not the pinned one: SHA-256 {found}, pinned {installed.release.sha256}",
            where=installed.binary,
            cure=f"remove {installed.root} and install it again",
        )
    return found


def _place(release: Release, cache: Path) -> Installed:
    root = Cache(cache).entry(KIND, _key(release))
    return Installed(root, root / release.binary, release)


def _key(release: Release) -> str:
    first = release.packages[0]
    return re.sub(r"[^A-Za-z0-9.+-]", "_", f"{first.name.rsplit('/', 1)[-1]}-{first.version}")


def _build(release: Release, draft: Path, progress: Progress) -> None:
    draft.mkdir()
    for package in release.packages:
        _add_package(package, draft, progress)
    _check_binary(draft / release.binary, release)


def _add_package(package: Package, draft: Path, progress: Progress) -> None:
    progress(f"fetching {_spec(package)}")
    download = draft / "download"
    tarball = fetch_tarball(package, download)
    if (found := integrity(tarball)) != package.sha512:
        raise OvereagerError(
            "AGT005",
            f"the tarball is not the pinned one: {found}, pinned {package.sha512}",
            where=_spec(package),
            cure="nothing was installed; find out what the registry of this machine's npm serves",
        )
    progress(f"unpacking {_spec(package)}")
    unpack(tarball, draft / "node_modules" / package.name)
    shutil.rmtree(download)


def _check_binary(binary: Path, release: Release) -> None:
    found = file_sha256(binary) if binary.is_file() else "missing"
    if found != release.sha256:
        raise OvereagerError(
            "AGT006",
            f"the tarball's executable is not the pinned one: SHA-256 {found}, pinned {release.sha256}",
            where=f"{_spec(release.packages[0])}, {release.binary}",
            cure="nothing was installed; the adapter's pins contradict each other: report it to its author",
        )
    binary.chmod(0o755)


@lru_cache(maxsize=64)
def _sha256(path: Path, size: int, mtime_ns: int, ctime_ns: int, inode: int) -> str:
    del size, mtime_ns, ctime_ns, inode  # part of the key: a file that was touched is hashed anew
    return file_sha256(path)


def _spec(package: Package) -> str:
    return f"{package.name}@{package.version}"
