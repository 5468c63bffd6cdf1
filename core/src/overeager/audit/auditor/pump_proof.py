"""A first trial of a compiled loop, in a process of its own: `python -m overeager.audit.auditor.pump_proof FILE`.

It watches one process that makes a folder, opens, moves and removes a file, executes a program and ends; whoever does
not tell all of that is not to be used.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
import tempfile
import time
from pathlib import Path

from overeager.audit.auditor.loop import watch
from overeager.audit.journal import Journal
from overeager.audit.kernel import seccomp
from overeager.audit.kernel.channel import KernelChannel
from overeager.audit.kernel.origin import Origin, take_listener
from overeager.audit.kernel.pump.library import PumpLibrary
from overeager.audit.kernel.syscalls import calls
from overeager.audit.kernel.target import Targets

_WANTED = ("mkdir", "open", "rename", "unlink", "rmdir", "execve", "exit_group")


def main(path: str) -> int:
    """0 when all is told."""
    table = calls()
    if table is None:
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        records = folder / "records"
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        journal = Journal(time.monotonic(), records, None)
        origin = _start(folder, seccomp.build_own_filter(table))
        kernel = KernelChannel(table, Targets(libc), journal, origin)
        watch(origin, kernel, None, journal, PumpLibrary(Path(path)))
        os.waitpid(origin.init, 0)
        health = journal.kernel.end() if journal.kernel else None
        *told, end = [json.loads(line) for line in records.read_text().splitlines()]
    found = [one["call"].removesuffix("at") for one in told]
    whole = health is not None and health.state == "present" and not any("error" in one for one in told)
    numbered = [one["n"] for one in told] == list(range(1, end["end"] + 1))
    return 0 if whole and numbered and all(one in found for one in _WANTED) else 1


def _start(folder: Path, program: bytes) -> Origin:
    """A process that waits for its listener to be taken, and a child of it that is watched."""
    ours, theirs = socket.socketpair()
    first = os.fork()
    if first == 0:
        try:
            seccomp.forbid_new_privileges()
            listener = seccomp.install(program)
            theirs.send(str(-listener).encode())
            theirs.recv(1)
            os.close(listener)
            child = os.fork()
            if child == 0:
                _act(folder)
            os.waitpid(child, 0)
        finally:
            os._exit(0)
    theirs.close()
    listener, refusal = take_listener(ours, first)
    if listener < 0:
        raise OSError(refusal, os.strerror(refusal))
    return Origin(listener, listener, 0, outer=0, init=first)


def _act(folder: Path) -> None:
    below = folder / "below"
    below.mkdir()
    (below / "f").write_text("a")
    (below / "f").rename(below / "g")
    (below / "g").unlink()
    below.rmdir()
    os.execv("/bin/true", ["true", "caf\u00e9"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
