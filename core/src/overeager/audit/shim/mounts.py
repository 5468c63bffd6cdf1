"""Where the shims stand inside: over the real programs, and first in PATH for scripts."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from overeager import canonical
from overeager.audit.shim.build import ShimBinary
from overeager.contract.effects import Mount

_SYSTEM = Path("/usr")
_INSIDE = PurePosixPath("/usr")
_HIDDEN = "local"
"""The sandbox has a /usr/local of its own."""
_FOLDERS = ("bin", "sbin")
_SECOND_FOLDERS = {"git": ("lib/git-core", "libexec/git-core")}
"""Where a command lies once more, under another path: its aliases and hooks start git from there."""
_MIRROR = PurePosixPath("/usr/local/libexec")
"""The real /usr/bin/rm is seen at /usr/local/libexec/bin/rm: shim.c and shim.sh know this place."""
_FRONT = PurePosixPath("/usr/local/bin")
_TAG_SIZE = 16
SLOT_START = b"\1\2\3\4\5\6\7" * 2
SLOT_SIZE = 256
"""Where shim.c keeps the commands that it is."""


class _Stand(NamedTuple):
    """A program of this system that a shim stands before."""

    real: PurePosixPath
    """Below the system folder, links resolved."""
    commands: tuple[str, ...]
    """What it is called, the longest first: what a record then names."""
    script: bool
    size: int
    modified: int
    """Nanoseconds."""

    @property
    def target(self) -> PurePosixPath:
        # A script must stay readable where it lies (`python3 /usr/bin/pip`), so its shim stands before it in PATH.
        return _FRONT / self.commands[0] if self.script else _INSIDE / self.real


def mounts(binary: ShimBinary, commands: Iterable[str], system: Path = _SYSTEM) -> tuple[Mount, ...]:
    """All mounts that put shims before those of `commands` that `system` has, in the order in which they must be made.

    First come the folders in which the shims find the real programs, below /usr/local/libexec, then the shims,
    each a file of its own in a folder beside `binary`. Targets below /usr/local need mount points there.
    """
    stands = _find_stands(commands, system)
    folders = sorted({PurePosixPath("bin"), *(stand.real.parent for stand in stands if not stand.script)})
    mirrors = [Mount(system / folder, str(_MIRROR / folder)) for folder in folders]
    copies = _make_copies(binary.path, stands)
    return (*mirrors, *(Mount(copies / stand.target.name, str(stand.target)) for stand in stands))


def names(commands: Iterable[str], system: Path = _SYSTEM) -> dict[str, tuple[str, ...]]:
    """The programs of `system` that get a shim, by the name of the file, each with the commands that it is."""
    return {stand.target.name: tuple(sorted(stand.commands)) for stand in _find_stands(commands, system)}


def scripts(commands: Iterable[str], system: Path = _SYSTEM) -> tuple[str, ...]:
    """Those of `commands` that are scripts on this `system`: their shim is met by name only, not by absolute path."""
    return tuple(stand.commands[0] for stand in _find_stands(commands, system) if stand.script)


def _find_stands(commands: Iterable[str], system: Path) -> tuple[_Stand, ...]:
    """Sorted by target; programs with one real file are one, scripts never."""
    found: dict[PurePosixPath, _Stand] = {}
    for command in sorted(set(commands), key=lambda name: (-len(name), name)):
        for folders in (_FOLDERS, _SECOND_FOLDERS.get(command, ())):
            stand = _find_stand(command, system, folders)
            if stand is not None:
                known = found.get(stand.target, stand)
                found[stand.target] = known._replace(commands=tuple(dict.fromkeys((*known.commands, command))))
    return tuple(found[target] for target in sorted(found))


def _find_stand(command: str, system: Path, folders: tuple[str, ...]) -> _Stand | None:
    root = system.resolve()
    for folder in folders:
        real = (system / folder / command).resolve()
        if not real.is_file() or not real.is_relative_to(root):
            continue
        below = PurePosixPath(real.relative_to(root))
        script = _is_script(real)
        # shim.c looks for a script in /usr/bin only; and what lies in the host's /usr/local is not there inside.
        if below.parts[0] != _HIDDEN and not (script and folder != "bin"):
            status = real.stat()
            return _Stand(below, (command,), script, status.st_size, status.st_mtime_ns)
    return None


def _is_script(path: Path) -> bool:
    """False for a program that only root may read."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except PermissionError:
        return False


def _make_copies(program: Path, stands: tuple[_Stand, ...]) -> Path:
    """A folder, made once, with a shim for each of `stands`."""
    key = canonical.digest([[str(stand.target), list(stand.commands), stand.size, stand.modified] for stand in stands])
    folder = program.with_name(key[:8])
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    data = program.read_bytes()
    for stand in stands:
        if not (folder / stand.target.name).exists():
            _place(folder / stand.target.name, data, stand)
    return folder


def _place(path: Path, program: bytes, stand: _Stand) -> None:
    """A shim that looks like what it stands for by size and time, and like no other shim by its bytes.

    Written beside and renamed, so that running sandboxes and other builders never see half a file.
    """
    data = _label(program, stand.commands)
    tag = hashlib.sha256(path.name.encode() + data).digest()[:_TAG_SIZE]
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
        file.seek(max(stand.size, len(data) + _TAG_SIZE) - _TAG_SIZE)
        file.write(tag)
    draft = Path(file.name)
    draft.chmod(0o755)
    os.utime(draft, ns=(stand.modified, stand.modified))
    draft.replace(path)


def _label(program: bytes, commands: tuple[str, ...]) -> bytes:
    """`program` with the commands that it is in their slot; a script has none and goes by the name it is called by."""
    at = program.find(SLOT_START)
    if at < 0:
        return program
    slot = b""
    for command in commands:
        word = command.encode() + b"\0"
        if len(slot) + len(word) < SLOT_SIZE:
            slot += word
    return program[:at] + slot.ljust(SLOT_SIZE, b"\0") + program[at + SLOT_SIZE :]
