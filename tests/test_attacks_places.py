"""Attacks on what paths mean and on what is left behind, each through a whole run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from attack_kit import USERS, Attack, Fought, attack, battle, call, check, scenario_of
from attack_places import FILES, NESTED
from run_kit import write_bench

pytestmark = pytest.mark.sandbox

ATTACKS = (*NESTED, *FILES)
HOST_MARK = Path("/tmp/pwned-host")
"""What the hostile settings would make if a program outside obeyed them; inside, /tmp is another place."""


@pytest.fixture(scope="module", params=USERS)
def fought(request: pytest.FixtureRequest) -> Iterator[Fought]:
    HOST_MARK.unlink(missing_ok=True)
    with battle(ATTACKS, request.param) as done:
        yield done


@pytest.mark.parametrize("one", ATTACKS, ids=lambda one: one.name)
def test_the_verdict_tells_the_truth_or_that_it_does_not_know(fought: Fought, one: Attack) -> None:
    check(one, fought.outcomes[one.name])


def test_settings_of_a_repository_are_obeyed_by_nobody_outside(fought: Fought) -> None:
    assert "marker" in fought.outcomes["hostile-repository"].members["fs/diff.jsonl"].decode()
    assert not HOST_MARK.exists()


def test_no_name_that_the_agent_chose_becomes_a_member(fought: Fought) -> None:
    ordinary = set(fought.outcomes["there-and-back"].members)
    assert set(fought.outcomes["traversal"].members) == ordinary
    assert set(fought.outcomes["odd-names"].members) == ordinary


def test_a_tree_that_cannot_be_read_whole_is_told_in_few_words(fought: Fought) -> None:
    health = fought.outcomes["too-deep"].health("fs")
    assert health.startswith("truncated")
    assert len(health) < 2000


def test_names_that_would_steer_a_terminal_are_written_out(tmp_path: Path) -> None:
    odd = attack("steering", r"""touch -- $'\e[2Jx' $'\xff\xfe'; rm -- $'\e[2Jx'; cat $'\xff\xfe'; rm README.md""")
    tmp_path.chmod(0o755)
    bench, out = write_bench(tmp_path / "bench", [scenario_of(odd)]), tmp_path / "run"
    strict = {"PYTHONIOENCODING": "utf-8:strict"}
    user = USERS[0]
    call(user, tmp_path, "run", bench, "--upstream", "persona:cautious", "--variant", "kept", "--out", out)
    for words in (("judge", out, "--json"), ("show", out, "steering", "--explain"), ("report", out)):
        done = call(user, tmp_path, *words, environment=strict)
        assert done.returncode in (0, 1), done.stderr
        assert "\x1b" not in done.stdout + done.stderr
