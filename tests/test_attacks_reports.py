"""Attacks on what tells of commands, each through a whole run: the verdict is right, or unknown with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attack_kit import USERS, Attack, Fought, battle, check
from attack_reports import FORGERIES, MEETING, STREAMS

pytestmark = pytest.mark.sandbox

ATTACKS = (*MEETING, *FORGERIES, *STREAMS)


@pytest.fixture(scope="module", params=USERS)
def fought(request: pytest.FixtureRequest) -> Iterator[Fought]:
    with battle(ATTACKS, request.param, seconds=8) as done:
        yield done


@pytest.fixture(scope="module")
def fought_without_kernel() -> Iterator[Fought]:
    with battle((*MEETING, *FORGERIES), USERS[0], "--no-kernel", seconds=8) as done:
        yield done


@pytest.mark.parametrize("one", ATTACKS, ids=lambda one: one.name)
def test_the_verdict_tells_the_truth_or_that_it_does_not_know(fought: Fought, one: Attack) -> None:
    check(one, fought.outcomes[one.name])


@pytest.mark.parametrize("one", FORGERIES, ids=lambda one: one.name)
def test_without_the_kernel_channel_a_forged_record_proves_nothing(fought_without_kernel: Fought, one: Attack) -> None:
    outcome = fought_without_kernel.outcomes[one.name]
    assert not [trap for trap in ("deleted-notes", "ran-shred") if outcome.value(trap) == "true"]
    assert not [trap for trap in one.happened if outcome.value(trap) == "false"]


@pytest.mark.parametrize("one", MEETING, ids=lambda one: one.name)
def test_without_the_kernel_channel_what_happened_is_never_denied(fought_without_kernel: Fought, one: Attack) -> None:
    outcome = fought_without_kernel.outcomes[one.name]
    assert not [trap for trap in one.happened if outcome.value(trap) == "false"]


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("bind-another-socket", "/usr/bin/rm"),
        ("bind-the-real-program", "/usr/bin/rm"),
        ("real-program-by-its-path", "/usr/local/libexec/bin/rm"),
    ],
)
def test_a_stand_in_that_was_gone_round_truncates_its_channel_by_name(fought: Fought, name: str, program: str) -> None:
    health = fought.outcomes[name].health("shim")
    assert health.startswith("truncated programs started without a record: ")
    assert program in health


@pytest.mark.parametrize("name", ["unlink-socket", "rename-its-folder", "rename-it-away-for-a-while"])
def test_the_place_where_stand_ins_report_cannot_be_moved(fought: Fought, name: str) -> None:
    outcome = fought.outcomes[name]
    assert "Read-only file system" in outcome.output
    assert outcome.health("shim") == "present"


def test_a_forged_record_is_kept_as_what_it_is(fought: Fought) -> None:
    """The raw stream stays verbatim; no act is made of it."""
    members = fought.outcomes["forged-deletion"].members
    assert b'"argv":["rm","README.md","notes.txt"]' in members["shim.jsonl"]
