"""Ways out that a program inside tries: no wall is missing, and two trials do not meet."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import secrets
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from attack_kit import USERS, attack, battle
from sandbox_kit import play

pytestmark = pytest.mark.sandbox

MOVES = Path(__file__).with_name("escape_moves.py").read_text()
NAMES = [name for name in MOVES.partition("TRIES = (")[2].partition(")")[0].replace("\n", " ").split() if name != "#"]
SESSION_KEYRING = -3
_SHMGET, _SHMCTL, _ADD_KEY, _KEYCTL = 29, 31, 248, 250


class Host(NamedTuple):
    """Marks of the host, each of which is found by whoever gets through one wall."""

    wanted: str


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    mark, number = f"m{secrets.token_hex(6)}", 0x5EED0000 | secrets.randbelow(0xFFFF)
    with contextlib.ExitStack() as stack:
        file = Path(f"/tmp/{mark}")
        stack.callback(file.unlink)
        file.write_text(mark)
        file.chmod(0o644)
        sleeper = subprocess.Popen(["/bin/sleep", "300"], env={"MARK": mark})
        stack.callback(sleeper.wait)
        stack.callback(sleeper.kill)
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{mark}")
        abstract.listen()
        loopback = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        segment = libc.syscall(_SHMGET, number, 4096, 0o1666)
        stack.callback(libc.syscall, _SHMCTL, segment, 0, None)
        key = libc.syscall(_ADD_KEY, b"user", mark.encode(), b"secret", 6, ctypes.c_long(SESSION_KEYRING))
        stack.callback(libc.syscall, _KEYCTL, 9, key, ctypes.c_long(SESSION_KEYRING))
        addresses = ["127.0.0.2", "10.0.2.2", "169.254.169.254", "192.168.0.1"]
        port = loopback.getsockname()[1]
        wanted = {
            "file": str(file), "mark": mark, "pid": sleeper.pid, "port": port, "shm": number, "addresses": addresses,
        }  # fmt: skip
        assert segment >= 0, "the mark must be there, or not finding it says nothing"
        yield Host(json.dumps(wanted))
        assert sleeper.poll() is None, "a process of the host was reached"


@pytest.fixture(scope="module", params=USERS)
def tried(request: pytest.FixtureRequest, host: Host) -> dict[str, str]:
    played = play(["/usr/bin/python3", "-c", MOVES, host.wanted[::-1]], user=request.param)
    assert played.finished.exit_status == 0, played.stderr
    answers: dict[str, str] = json.loads(played.stdout)
    return answers


def test_every_way_was_tried(tried: dict[str, str]) -> None:
    assert sorted(tried) == sorted(name.rstrip(",") for name in NAMES)
    assert len(tried) > 30


@pytest.mark.parametrize("way", [name.rstrip(",") for name in NAMES])
def test_nothing_of_the_host_is_reached(tried: dict[str, str], way: str) -> None:
    assert tried[way].startswith("refused: "), tried[way]


def test_outside_the_same_moves_reach_the_marks(host: Host) -> None:
    """A check of the check: what finds nothing inside would find what is there."""
    done = subprocess.run(
        ["/usr/bin/python3", "-c", _only("host_file", "host_processes", "abstract_socket", "shared_memory"),
         host.wanted[::-1]],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers = json.loads(done.stdout)
    assert all(answer.startswith("reached: ") for answer in answers.values()), answers


def _only(*names: str) -> str:
    head, _, rest = MOVES.partition("TRIES = (")
    return f"{head}TRIES = ({', '.join(names)},){rest.partition(')  # fmt: skip')[2]}"


LOOK = (
    "sleep 1; cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr '\\0' ' '; ls -a /tmp /home/user /run /dev/shm; id"
)


def test_two_trials_at_once_see_nothing_of_each_other() -> None:
    """Each leaves its word in files, arguments and the environment, and looks for the other's."""
    words = {"left": "wordofleft", "right": "wordofright"}
    pair = [
        attack(name, f"echo {word} | tee /tmp/{word} /dev/shm/{word} ~/{word}; A={word} sleep 2 & {LOOK} # {word}")
        for name, word in words.items()
    ]
    with battle(pair, USERS[-1], jobs=2) as fought:
        outputs = {name: fought.outcomes[name].output for name in words}
    assert words["left"] in outputs["left"]
    assert words["right"] in outputs["right"]
    assert words["right"] not in outputs["left"]
    assert words["left"] not in outputs["right"]


def test_a_signal_to_everybody_stays_inside() -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as sleeper:
        play("kill -9 -1; kill -9 0", user=USERS[-1])
        alive = sleeper.poll() is None
        os.kill(sleeper.pid, signal.SIGKILL)
    assert alive
