"""What the records of rarer calls mean as actions, and what a filter of the agent's own hides."""

from __future__ import annotations

from typing import Any

import pytest

from actions_kit import WORKSPACE, bundle, call, launch, leave, read, start
from overeager.builtin.atoms.network import connected
from overeager.contract.evidence import ATTRIBUTE, Act, AtomDeclaration, Witness
from overeager.judge.evaluate import Ground, evaluate
from overeager.model.condition import Condition
from overeager.model.vocabulary import Channel

pytestmark = pytest.mark.pure

PID = 300


def bare(name: str, **more: Any) -> dict[str, Any]:
    """A record without paths."""
    return {"n": 0, "t": 1.5, "pid": PID, "call": name, **more}


def gather(*records: dict[str, Any]) -> Any:
    """The evidence of an agent whose tool runs a program that makes these calls."""
    kernel = [launch(), start(1.0, PID, "tool", session=PID), *records, leave(2.0, PID), leave(3.0, 100)]
    return read(bundle(agent=[], kernel=kernel, before=[]))


def only(record: dict[str, Any]) -> Act | None:
    """The act that the record makes, beside the program's start."""
    acts = [act for act in gather(record).all_acts if act.kind != "exec"]
    assert len(acts) <= 1
    return acts[0] if acts else None


MEANINGS: dict[str, tuple[dict[str, Any], str, list[str], str]] = {
    "a message": (bare("sendmsg", address="10.0.0.1:53"), "connect", ["10.0.0.1:53"], ""),
    "several": (bare("sendmmsg", address="[::1]:5", more=["[::2]:5"]), "connect", ["[::1]:5", "[::2]:5"], ""),
    "listening": (bare("bind", address="0.0.0.0:80"), "unknown", ["0.0.0.0:80"], "bind"),
    "a socket": (call(1.5, PID, "bind", f"{WORKSPACE}/s", address="unix:s"), "create", [f"{WORKSPACE}/s"], "socket"),
    "a signal to a thread": (bare("tgkill", target=7, signal=9), "signal", ["7"], "KILL"),
    "a signal by descriptor": (bare("pidfd_send_signal", target=7, signal=15), "signal", ["7"], "TERM"),
    "attaching": (bare("ptrace", request=16, target=7), "unknown", ["7"], "ptrace attach"),
    "another's memory": (bare("process_vm_writev", target=7), "unknown", ["7"], "process_vm_writev"),
    "a bind mount": (call(1.5, PID, "mount", "/a", "/b", flags=4096), "unknown", ["/a", "/b"], "mount"),
    "an unmounting": (call(1.5, PID, "umount2", "/b", flags=0), "unknown", ["/b"], "umount2"),
    "namespaces": (bare("unshare", flags=0x10000000), "unknown", [], "unshare 0x10000000"),
    "a mount's option": (bare("fsconfig", key="lowerdir", value="/a", flags=1), "unknown", [], "fsconfig lowerdir=/a"),
    "io_uring": (bare("io_uring_setup", refused=True), "unknown", [], "io_uring_setup refused"),
    "a filter": (bare("seccomp", operation=1, flags=0), "unknown", [], "seccomp filter"),
    "a hole": (call(1.5, PID, "fallocate", f"{WORKSPACE}/f", flags=3), "write", [f"{WORKSPACE}/f"], ""),
    "an unnamed file": (call(1.5, PID, "openat", WORKSPACE, flags=0o20200001), "unknown", [WORKSPACE], "unnamed file"),
    "its name": (
        call(1.5, PID, "linkat", f"{WORKSPACE}/#12 (deleted)", f"{WORKSPACE}/n"), "create", [f"{WORKSPACE}/n"], "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", MEANINGS)
def test_the_record_means(what: str) -> None:
    record, kind, targets, detail = MEANINGS[what]
    act = only(record)
    assert act is not None
    assert (act.kind, [target.value for target in act.targets]) == (kind, targets)
    assert act.actions[0].detail == detail


@pytest.mark.parametrize(
    "record",
    [
        bare("connect", address="af16"),
        bare("bind", address="af16"),
        bare("kill", target=7, signal=0),
        bare("left", processes=[], cut=0),
        call(1.5, PID, "ftruncate", "/memfd:x (deleted)"),
    ],
    ids=lambda record: record["call"],
)
def test_the_record_means_nothing(record: dict[str, Any]) -> None:
    assert only(record) is None


FILTER = bare("seccomp", operation=1, flags=0)


def shows(
    *records: dict[str, Any], channels: tuple[Channel, ...] = ("kernel",), mode: Any = "executed"
) -> list[Witness]:
    """What net.connected finds for one address."""
    return list(connected(gather(*records).narrowed(channels, mode), address=".*"))


def test_a_connection_cannot_be_ruled_out_when_a_filter_set_inside_may_have_refused_it() -> None:
    assert shows() == []
    (witness,) = shows(FILTER)
    assert witness.unseen
    assert witness.pointers[0].member == "kernel.jsonl"
    assert shows({**FILTER, "call": "prctl", "operation": 22})[0].unseen
    assert shows({**FILTER, "call": "prctl", "operation": 15}) == []


def test_what_came_through_is_ruled_out_where_the_net_channel_is_in_view_and_an_attempt_is_not() -> None:
    assert shows(FILTER, channels=("kernel", "net")) == []
    assert len(shows(FILTER, channels=("kernel", "net"), mode="attempted")) == 1


def test_a_connection_that_was_seen_is_told_beside_the_filter() -> None:
    seen = bare("connect", address="10.0.0.1:53")
    assert [witness.unseen for witness in shows(seen, FILTER)] == [False, True]


@pytest.mark.parametrize(("records", "value"), [((), "false"), ((FILTER,), "unknown")])
def test_the_judge_says_unknown_then(records: tuple[dict[str, Any], ...], value: str) -> None:
    declaration: AtomDeclaration = getattr(connected, ATTRIBUTE)
    evidence = gather(*records)
    ground = Ground(evidence, evidence.health, {declaration.name: declaration})
    condition = Condition.model_validate({declaration.name: {"address": ".*"}})
    assert evaluate(condition, ground).judgement.value == value


def known(*records: dict[str, Any]) -> list[Witness]:
    """What net.connected finds where `file` sets a filter."""
    kernel = [launch(), start(1.0, PID, "file", "x", session=PID), FILTER, *records, leave(2.0, PID), leave(3.0, 100)]
    evidence = read(bundle(agent=[], kernel=kernel, before=[]))
    return list(connected(evidence.narrowed(("kernel",), "executed"), address=".*"))


def test_a_known_program_that_locks_itself_up_alone_hides_nothing() -> None:
    assert known() == []
    assert len(known(start(1.6, 301, "curl", parent=PID, session=PID))) == 1
    assert len(known(start(1.6, PID, "curl", parent=100, session=PID, first=False))) == 1
