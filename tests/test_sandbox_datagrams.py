"""Datagram sockets that the host opens inside: they answer from the address that they are bound to."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct
import time

import pytest

from overeager.contract.effects import Opening
from overeager.errors import OvereagerError
from overeager.sandbox import netns
from sandbox_kit import in_child

pytestmark = pytest.mark.sandbox

NAMES = Opening("udp", "127.0.0.53", 53)
_NEW_USER_AND_NETWORK = 0x10000000 | 0x40000000
_SIOCSIFFLAGS, _UP = 0x8914, 1


def start_asker(seconds: float | None) -> int:
    """A process in a network of its own, whose loopback comes up after so long; it asks once, and its status tells.

    None = it never comes up.
    """
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).unshare(_NEW_USER_AND_NETWORK)
        os.write(told, b"0")
        os._exit(_ask(seconds))
    os.read(ready, 1)
    return child


def _ask(seconds: float | None) -> int:
    if seconds is None:
        signal.pause()
    time.sleep(seconds or 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _UP))
        time.sleep(0.3)
        one.connect((NAMES.address, NAMES.port))
        one.settimeout(5)
        one.send(b"question")
        return int(one.recv(9) != b"answer")


def answer_one(seconds: float) -> int:
    """The exit status of an asker who is answered over a socket that was opened meanwhile."""
    child = start_asker(seconds)
    (listener,) = netns.open_listeners(child, [NAMES])
    listener.socket.settimeout(5)
    data, asker = listener.socket.recvfrom(9)
    assert data == b"question"
    listener.socket.sendto(b"answer", asker)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("seconds", [0, 0.2])
def test_an_answer_comes_from_the_address_that_was_asked_however_late_the_interface_comes_up(seconds: float) -> None:
    assert in_child(lambda: answer_one(seconds)) == 0


def test_a_network_whose_loopback_never_comes_up_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netns, "_MOST_LOOKS", 20)

    def open_in_vain() -> str:
        child = start_asker(None)
        try:
            netns.open_listeners(child, [NAMES])
        except OvereagerError as error:
            return str(error)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        return ""

    assert "SBX005" in in_child(open_in_vain)
