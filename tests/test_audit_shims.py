"""The shim channel's collector: what it takes, from whom, and that it never lies about the sender."""

from __future__ import annotations

import pytest

from sandbox_kit import PROJECT, USERS, play

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize("user", USERS)
def test_every_call_of_a_shimmed_command_is_recorded_as_it_was_given(user: str) -> None:
    played = play(
        "cd sub; /bin/rm -f 'a b' \"$(printf 'x\\ny')\"; env -i /usr/bin/cat /dev/null", files={"sub/z": ""}, user=user
    )
    assert [record["command"] for record in played.shim] == ["rm", "cat"]
    assert played.shim[0]["argv"] == ["/bin/rm", "-f", "a b", "x\ny"]
    assert played.shim[0]["cwd"] == f"{PROJECT}/sub"
    assert played.shim[0]["cut"] == 0


def test_the_shell_form_is_recorded_through_a_pipe_and_joined_too() -> None:
    played = play("rm -f one two; cat f", files={"f": "text"}, shim_form="sh")
    assert played.stdout == "text"
    assert [(record["command"], record["argv"][1:]) for record in played.shim] == [
        ("rm", ["-f", "one", "two"]),
        ("cat", ["f"]),
    ]
    for record in played.shim:
        assert [r for r in played.kernel if r["pid"] == record["pid"] and r["call"] == "execve"], record


def test_what_is_no_record_is_kept_raw_under_its_true_sender() -> None:
    script = (
        "import os, socket\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "s.sendto(b'READY=1 \\xff', '/run/systemd/notify'); s.sendto(b'', '/run/systemd/notify')\n"
    )
    played = play(["/usr/local/libexec/bin/python3.11", "-c", script])
    assert [record["raw"] for record in played.shim] == ["READY=1 \udcff", ""]
    (process,) = {record["pid"] for record in played.calls("sendto")}
    assert {record["pid"] for record in played.shim} == {process}


def test_two_hundred_calls_at_once_give_two_hundred_records() -> None:
    played = play("for i in $(seq 200); do rm -f no-$i & done; wait")
    assert len(played.shim) == 200
    assert len({record["pid"] for record in played.shim}) == 200


def test_no_record_is_made_and_nothing_lies_over_the_programs_when_shims_are_off() -> None:
    played = play("rm -f x; readlink /proc/self/exe; ls /usr/local/libexec /run/systemd", shims=False)
    assert (played.finished.shim.state, played.finished.shim.reason) == ("absent", "switched off")
    assert "notify" not in played.stdout
    assert "python" not in played.stdout
