"""After all attacks the host is as it was: a run of them on a host of its own, looked at before and after."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attack_kit import USERS
from run_kit import ROOT

pytestmark = pytest.mark.sandbox

OWN_HOST = ("--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc", "--propagation", "private")
FRESH = (
    # What others mounted there would stay busy as long as we have a copy of it.
    "cut -d' ' -f5 /proc/self/mountinfo | grep ^/tmp/ | sort -r | while read -r one; do umount -l \"$one\"; done; "
    # The checkout, and so the interpreter, may lie below the folder that is covered.
    'root="$1" && shift && mount --rbind "$root" /mnt && mount -t tmpfs none /tmp && mkdir -p "$root" && '
    'mount --rbind /mnt "$root" && umount -l /mnt && cd "$root" && '
    "mount -t tmpfs none /dev/shm && export TMPDIR=/tmp HOME=/tmp/home && mkdir /tmp/home"
)


@pytest.mark.parametrize("user", USERS)
def test_after_all_attacks_the_host_is_as_it_was(user: str) -> None:
    """Others who use this machine meanwhile are shut out by namespaces, so that every difference is the run's."""
    become_root = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    program = Path(__file__).with_name("host_state.py")
    inside = ("sh", "-c", f'{FRESH} && exec "$@"', "sh", str(ROOT), sys.executable, str(program), user)
    done = subprocess.run(["unshare", *become_root, *OWN_HOST, *inside], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert told["differences"] == {}
    assert told["sealed"] == told["of"]
