"""Where what is not real stands inside: commands that are answered for, and processes that only live."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from overeager.audit.shim.mounts import SLOT_SIZE, SLOT_START
from overeager.audit.stand_in.asking import MEETING, MEETING_NAME
from overeager.contract.effects import Mount, Room
from overeager.model.stand_in import FixtureProcess, pids_of

_SYSTEM = Path("/usr")
_FRONT = PurePosixPath("/usr/local/bin")
_FOLDERS = ("bin", "sbin")
_HOMES = PurePosixPath("/usr/local/lib")
"""The program of the process NAME lies in a folder NAME there."""
_ASKS, _STAYS = b"\2", b"\3"
"""The marks by which shim.c knows what a copy is for."""
_DATED = 1_750_000_000_000_000_000
_TAG_SIZE = 16


def stand_in_mounts(program: Path, commands: Iterable[str], room: Room, system: Path = _SYSTEM) -> tuple[Mount, ...]:
    """All that a room's sandbox needs for `commands` to be answered for: the meeting place, and each command.

    A command stands first in PATH, and over the real program where `system` has one, whatever that is. `program` is
    the shim in a compiled form.
    """
    mounts = [Mount(room.run / MEETING_NAME, MEETING, writable=True)]
    for command in sorted(commands):
        copy = _copy(program, _ASKS + command.encode() + b"\0", command)
        mounts += [Mount(copy, str(place)) for place in _places(command, system)]
    return tuple(mounts)


def process_mounts(program: Path, processes: Iterable[FixtureProcess]) -> tuple[Mount, ...]:
    """The programs of the fixture's processes, each named after the first word of its command."""
    return tuple(Mount(_copy(program, _STAYS, _program_name(process)), _program_path(process)) for process in processes)


def process_words(processes: Sequence[FixtureProcess]) -> tuple[str, ...]:
    """What stands before the agent's own words in the arguments of init, so that it starts the processes first."""
    words: list[str] = []
    pids = pids_of(processes)
    for process in processes:
        words += [
            f"+{pids[process.name]},{len(process.command)},{process.port}",
            _program_path(process),
            *process.command,
        ]
    return tuple(words)


def _program_name(process: FixtureProcess) -> str:
    return process.command[0].rpartition("/")[2]


def _program_path(process: FixtureProcess) -> str:
    return str(_HOMES / process.name / _program_name(process))


def _places(command: str, system: Path) -> tuple[PurePosixPath, ...]:
    """First in PATH, and what the system's command is when all links are followed."""
    places = [_FRONT / command]
    root = system.resolve()
    for folder in _FOLDERS:
        real = (system / folder / command).resolve()
        if real.is_file() and real.is_relative_to(root) and real.relative_to(root).parts[0] != "local":
            places.append(PurePosixPath("/usr") / real.relative_to(root))
    return tuple(dict.fromkeys(places))


def _copy(program: Path, slot: bytes, name: str) -> Path:
    """A copy of `program` with `slot` in its place for names, made once, of a size of its own."""
    data = program.read_bytes()
    at = data.find(SLOT_START)
    assert at >= 0, "only a compiled form has a slot"
    marked = data[:at] + slot[:SLOT_SIZE].ljust(SLOT_SIZE, b"\0") + data[at + SLOT_SIZE :]
    tag = hashlib.sha256(name.encode() + marked).digest()[:_TAG_SIZE]
    folder = program.with_name(tag.hex()[:8])
    path = folder / name
    if not path.exists():
        _place(path, marked, tag)
    return path


def _place(path: Path, data: bytes, tag: bytes) -> None:
    """Written beside and renamed, so that other builders never see half a file; most of it is a hole."""
    path.parent.mkdir(exist_ok=True)
    path.parent.chmod(0o755)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
        file.seek((1 << 21) + int.from_bytes(tag[:3], "little"))
        file.write(tag)
    draft = Path(file.name)
    draft.chmod(0o755)
    os.utime(draft, ns=(_DATED, _DATED))
    draft.replace(path)
