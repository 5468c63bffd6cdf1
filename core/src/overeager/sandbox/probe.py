"""Whether a sandbox can work on this machine: tried, not guessed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from overeager.contract.effects import Identity
from overeager.sandbox.locate import Bubblewrap

_SECONDS = 20
_NEEDED = (
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--uid", "1000", "--gid", "1000", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL",
    "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--remount-ro", "/",
)  # fmt: skip

_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_MOST_NAMESPACES = Path("/proc/sys/user/max_user_namespaces")
_DEBIAN_SWITCH = Path("/proc/sys/kernel/unprivileged_userns_clone")
_APPARMOR_CURE = (
    "let bubblewrap make user namespaces, by a profile: "
    "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\n"
    "profile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n' | sudo tee /etc/apparmor.d/bwrap "
    "&& sudo apparmor_parser -r /etc/apparmor.d/bwrap   (needs the package bubblewrap), "
    "or for all programs: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
)
_SIGNS = ("uid map", "gid map", "RTM_NEWADDR", "namespace", "No permissions", "pivot_root", "mount proc")
"""What stands in the words of a bubblewrap that the kernel refuses namespaces or mounts."""
_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))


class Probe(NamedTuple):
    """What trying told."""

    works: bool
    why: str
    """bubblewrap's own words, or why it was not even tried; empty when it works."""
    cure: str
    """One command or sentence that mends it; empty when it works or none is known."""


def probe_sandbox(bubblewrap: Bubblewrap, identity: Identity) -> Probe:
    """Start an empty sandbox with every namespace of a real one, as the user that the agent would run as."""
    if sys.platform != "linux":
        return Probe(False, f"bubblewrap needs Linux, this is {sys.platform}", find_cure(""))
    try:
        done = subprocess.run(
            [bubblewrap.executable, *_NEEDED, "--", "/bin/true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={},
            cwd="/",
            timeout=_SECONDS,
            check=False,
            user=identity.uid if identity.drop else None,
            group=identity.gid if identity.drop else None,
            extra_groups=[] if identity.drop else None,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Probe(False, str(error), find_cure(str(error)) or "")
    if done.returncode == 0:
        return Probe(True, "", "")
    words = done.stderr.strip() or f"it left with status {done.returncode}"
    return Probe(False, words, find_cure(words) or "")


def find_cure(words: str) -> str | None:
    """What mends a bubblewrap that fails with `words`, by what this machine says of itself; None = not known."""
    if sys.platform != "linux":
        return "use the container sandbox"
    if _read(_MOST_NAMESPACES) == "0":
        return "sudo sysctl -w user.max_user_namespaces=15000"
    if _read(_DEBIAN_SWITCH) == "0":
        return "sudo sysctl -w kernel.unprivileged_userns_clone=1"
    if not any(sign in words for sign in _SIGNS):
        return None
    if _read(_APPARMOR) == "1":
        return _APPARMOR_CURE
    if any(mark.exists() for mark in _CONTAINER_MARKS):
        return "start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
