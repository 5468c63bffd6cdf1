"""The table of shim rules: the 31 commands, and what each rule promises."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actions_kit import HOME, WORKSPACE, rules
from overeager import Nested, Reading
from overeager.actions.read import read_argv

pytestmark = pytest.mark.pure

INCIDENT_COMMANDS = (
    "git rm docker curl cp gh python3 npx mv ssh psql sudo cat find terraform pkill killall pip mkdir grep xargs sed "
    "chmod scp ln npm tee truncate dd wget kubectl"
)
READ_ONLY = (
    "env timeout nohup setsid nice bash sh dash kill head tail less more sort wc touch rmdir unlink shred install "
    "rsync tar busybox perl node sqlite3 awk cut base64 xxd od strings printf echo test ls rg diff source chown stat "
    "file md5sum sha256sum"
)


def test_exactly_the_31_commands_of_the_incidents_are_shimmed() -> None:
    shimmed = {command for command, rule in rules().items() if rule.shimmed}
    assert shimmed == set(INCIDENT_COMMANDS.split())
    assert len(shimmed) == 31


@pytest.mark.parametrize("command", READ_ONLY.split())
def test_what_stands_around_them_is_read_without_a_shim(command: str) -> None:
    assert rules()[command].shimmed is False


DETAILS = [
    (["git", "-C", "d", "-c", "a.b=c", "push", "-f", "origin", "main"], "push -f origin main"),
    (["git", "-c", "alias.z=reset --hard", "z", "HEAD~1"], "reset --hard HEAD~1"),
    (["git", "--git-dir=x.git", "update-ref", "-d", "refs/heads/a"], "update-ref -d refs/heads/a"),
    (["docker", "-H", "h", "system", "prune", "-af"], "system prune -af"),
    (["docker", "compose", "down", "-v"], "compose down -v"),
    (["kubectl", "-n", "prod", "delete", "pod", "x"], "delete pod x -n prod"),
    (["terraform", "destroy", "-auto-approve"], "destroy -auto-approve"),
    (["npm", "-g", "install", "left"], "install left -g"),
    (["npx", "-y", "prisma", "migrate", "reset"], "prisma migrate reset"),
    (["pip3", "install", "--user", "x"], "install x --user"),
    (["python3", "-m", "pip", "install", "x"], "pip install x"),
    (["psql", "-h", "db", "-c", "DROP TABLE a"], "DROP TABLE a"),
    (["gh", "pr", "merge", "--admin", "5"], "pr merge --admin 5"),
    (["ssh", "-p", "22", "u@h", "rm", "x"], "u@h rm x"),
    (["sudo", "-u", "root", "rm", "x"], "rm x"),
]


@pytest.mark.parametrize(("argv", "detail"), DETAILS, ids=[" ".join(argv) for argv, _ in DETAILS])
def test_the_detail_of_an_exec_names_its_verb_first(argv: list[str], detail: str) -> None:
    assert read_argv(argv, WORKSPACE, HOME, rules()).detail == detail


UNSURE = [
    ["rm", "-f", "x"], ["rm", "-rf", "x"], ["cp", "-n", "a", "b"], ["mkdir", "-p", "x"], ["touch", "x"],
    ["find", ".", "-delete"], ["git", "clean", "-fd"], ["git", "reset", "--hard"], ["python3", "-c", "open('x','w')"],
]  # fmt: skip
SURE = [
    ["rm", "x"],
    ["cp", "a", "b"],
    ["mv", "a", "b"],
    ["tee", "x"],
    ["chmod", "600", "x"],
    ["cat", "x"],
    ["sed", "-i", "s/a/b/", "x"],
]


@pytest.mark.parametrize("argv", UNSURE, ids=" ".join)
def test_status_0_does_not_prove_what_may_have_been_left_undone(argv: list[str]) -> None:
    found = [reading for reading in read_argv(argv, WORKSPACE, HOME, rules()).readings if reading.kind != "list"]
    readings = [reading for reading in found if not (argv[0] == "cp" and reading.kind == "read")]
    assert readings
    assert not any(reading.sure for reading in readings)


@pytest.mark.parametrize("argv", SURE, ids=" ".join)
def test_status_0_proves_what_the_command_cannot_leave_undone(argv: list[str]) -> None:
    readings = read_argv(argv, WORKSPACE, HOME, rules()).readings
    assert readings
    assert all(reading.sure for reading in readings)


NOTHING = [
    ["git", "clean", "-nfd"], ["git", "mv", "-n", "a", "b"], ["git", "rm", "--cached", "a"], ["git", "config", "a.b"],
    ["git", "stash", "list"], ["kill", "-l"], ["pkill", "-0", "x"], ["bash", "-c"], ["cp", "a"], ["mv"], ["ln"],
    ["env"],
    ["dd", "if=/dev/zero", "of=/dev/null"], ["curl"], ["find"], ["sqlite3", ":memory:", "DELETE FROM a"],
]  # fmt: skip


@pytest.mark.parametrize("argv", NOTHING, ids=" ".join)
def test_what_changes_nothing_reads_as_nothing(argv: list[str]) -> None:
    assert [reading for reading in read_argv(argv, WORKSPACE, HOME, rules()).readings if reading.kind != "list"] == []


WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            ["-rf", "-c", "-e", "--", "-", "-C", "-i", "-I", "{}", "-exec", ";", "+", "-delete", "push", "config",
             "stash",
             "--output", "-o", "-f", "x", "/", "~/y", "a=b", "@f", "http://h/p", "h:p", "", "alias.z=!z", "z", "run"]
        ),
        st.text(max_size=8),
    ),
    max_size=8,
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(words=WORDS)
@pytest.mark.parametrize("command", sorted(rules()))
def test_no_rule_raises_and_every_path_is_absolute_and_normal(command: str, words: list[str]) -> None:
    found = rules()[command].read((command, *words), WORKSPACE)
    assert all(isinstance(part, Reading | Nested) for part in found)
    assert found == rules()[command].read((command, *words), WORKSPACE)
    for reading in read_argv([command, *words], WORKSPACE, HOME, rules()).readings:
        for target in reading.targets:
            if target.type == "path":
                assert target.value.startswith("/")
                assert "/../" not in target.value
