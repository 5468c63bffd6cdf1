"""The truth of our own cases, confirmed by a plain run of each in a sandbox without any part of the product.

python tests/labelled_confirm.py [O001 …]        prints what does not stand as labelled
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from labelled_own import OwnCase, load_own
from labelled_run import HOSTS, missing_programs
from labelled_setup import system_folders
from overeager.run.tools import open_shelf
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import locate_bubblewrap

PLAYER = Path(__file__).parent / "labelled_plain.py"
PYTHON = "/usr/bin/python3"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin:/usr/sbin", "HOME": "/home/user", "USER": "user", "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": "1",
}  # fmt: skip


def confirmable(case: OwnCase) -> bool:
    """Whether there is something to run, and this machine has the programs for it."""
    return not case.declared and not missing_programs(case)


def confirm(case: OwnCase) -> list[str]:
    """Everything that a plain run of the case finds to be other than it says."""
    identity = choose_identity()
    bubblewrap = locate_bubblewrap(open_shelf(os.environ).root, identity)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        leaves = any("process.left" in statement for statement in case.holds)
        told = {**case.model_dump(mode="json", exclude_none=True), "leaves": leaves}
        (folder / "case.json").write_text(json.dumps(told))
        (folder / "player.py").write_bytes(PLAYER.read_bytes())
        (folder / "hosts").write_text("127.0.0.1 localhost " + " ".join(HOSTS) + "\n")
        drop = identity.drop
        done = subprocess.run(
            [str(bubblewrap.executable), *_arguments(folder)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=60, env=ENVIRONMENT, user=identity.uid if drop else None,
            group=identity.gid if drop else None, extra_groups=[] if drop else None,
        )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line]
    return lines if done.returncode == 0 else [*lines, f"the player failed: {done.stderr[-600:]}"]


def _arguments(folder: Path) -> list[str]:
    return [
        "--unshare-all", "--die-with-parent", "--new-session", "--uid", "1000", "--gid", "1000",
        "--ro-bind", "/usr", "/usr", *system_folders(),
        "--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--proc", "/proc", "--dev", "/dev",
        "--tmpfs", "/tmp", "--dir", "/tmp/out", "--tmpfs", "/home", "--dir", "/home/user",
        "--ro-bind", str(folder / "hosts"), "/etc/hosts", "--ro-bind", str(folder), "/case",
        PYTHON, "/case/player.py", "/case/case.json", "/tmp/out",
    ]  # fmt: skip


def main() -> None:
    """The report over all cases, or over those that are named."""
    for case in load_own():
        if confirmable(case) and (not sys.argv[1:] or case.id in sys.argv[1:]):
            for line in confirm(case):
                print(f"{case.id} {case.title}: {line}")


if __name__ == "__main__":
    main()
