"""What of the host a trial could plausibly change, looked at before and after a run of attacks.

python host_state.py     in namespaces of its own, shut off from others; prints the differences
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_SYSTEM = ("/etc", "/usr/local", "/opt", "/srv", "/boot")
_LISTED = (
    "/", "/bin", "/sbin", "/lib", "/usr", "/usr/bin", "/usr/sbin", "/usr/lib", "/var", "/var/tmp", "/var/spool", "/run",
    "/run/lock", "/dev", "/dev/shm", "/tmp", "/root", "/home",
)  # fmt: skip
_SETTINGS = (
    "kernel/core_pattern", "kernel/hostname", "kernel/domainname", "kernel/modprobe", "kernel/sysrq", "vm/swappiness",
    "vm/overcommit_memory", "net/ipv4/ip_forward", "fs/file-max", "user/max_user_namespaces",
)  # fmt: skip
_OURS = ("/tmp/h", "/tmp/o", "/tmp/w")
"""Folders that hold runs, homes and rooms; rooms are told apart."""

_SLOW = frozenset({"stop-the-agent", "too-deep", "swap-while-looked-at", "strange-files"})

State = dict[str, object]


def look() -> State:
    """The host's state now, by headings."""
    return {
        "system files": dict(_stamps()),
        "folders": {folder: _names(folder) for folder in _LISTED if Path(folder).is_dir()},
        "settings": {name: _read(f"/proc/sys/{name}") for name in _SETTINGS},
        "mounts": sorted(line.split(" ", 2)[2] for line in _mounts() if "/overlay2/" not in line),
        "listening": sorted(_listening()),
        "shared memory": _read("/proc/sysvipc/shm").count("\n"),
        "processes": sorted(_processes()),
        "groups of processes": sorted(folder for folder, _, _ in os.walk("/sys/fs/cgroup") if "/docker" not in folder),
        "rooms": sorted(str(path) for folder in Path("/tmp").glob("w*") for path in folder.iterdir()),
        "limits": _read("/proc/self/limits"),
    }


def _stamps() -> Iterator[tuple[str, tuple[int, int, int]]]:
    for root in _SYSTEM:
        for parent, _, files in os.walk(root):
            for path in (parent, *(os.path.join(parent, name) for name in files)):
                status = os.lstat(path)
                yield path, (status.st_mode, status.st_size, status.st_mtime_ns)


def _names(folder: str) -> list[str]:
    return sorted(str(path) for path in Path(folder).iterdir() if not str(path).startswith(_OURS))


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def _mounts() -> list[str]:
    """Those of containers, which others may run meanwhile, come and go by the host's own doing."""
    return _read("/proc/self/mountinfo").splitlines()


def _listening() -> Iterator[str]:
    for name in ("tcp", "tcp6", "udp", "udp6", "unix"):
        for line in _read(f"/proc/net/{name}").splitlines()[1:]:
            yield f"{name} {line.split()[-1] if name == 'unix' else line.split()[1]}"


def _processes() -> Iterator[str]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            yield _read(f"{entry}/cmdline")


def differences(before: State, after: State) -> dict[str, list[str]]:
    """What differs, by heading."""
    found: dict[str, list[str]] = {}
    for heading, old in before.items():
        new = after[heading]
        if old != new:
            one, other = (
                set(map(str, v.items()))
                if isinstance(v, dict)
                else set(map(str, v))
                if isinstance(v, list)
                else {str(v)}
                for v in (old, new)
            )
            found[heading] = sorted(one ^ other)[:20]
    return found


def main() -> None:
    """Look, let all attacks be fought, look again."""
    from attack_kit import battle
    from attack_places import FILES, NESTED
    from attack_reports import FORGERIES, MEETING, STREAMS

    attacks = [one for one in (*MEETING, *FORGERIES, *STREAMS, *NESTED, *FILES) if one.name not in _SLOW]
    tempfile.tempdir = "/tmp"
    before = look()
    with battle(attacks, sys.argv[1], seconds=8) as fought:
        sealed = len(fought.outcomes)
    told = {"sealed": sealed, "of": len(attacks), "differences": differences(before, look())}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
