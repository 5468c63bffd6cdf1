"""A redirection belongs to the last command before it, though the syntax tree hangs it on the whole list."""

from __future__ import annotations

import pytest

from actions_kit import TOOL as SHELL
from actions_kit import WORKSPACE, bundle, launch, leave, read, rules, shell, start
from overeager.actions.shell import read_shell

pytestmark = pytest.mark.pure


def writes(text: str) -> list[tuple[str, str]]:
    """Each path that the text writes, below the workspace, with how surely the shell gets there."""
    return [
        (target.value.removeprefix(f"{WORKSPACE}/"), command.reached)
        for command in read_shell(text, WORKSPACE, rules())
        for reading in command.readings
        if reading.kind == "write"
        for target in reading.targets
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo x > f", [("f", "certain")]),
        ("a || echo x >> f", [("f", "possible")]),
        ("a && echo x > f", [("f", "possible")]),
        ("cd sub && echo x > f", [("sub/f", "possible")]),
        ("cd sub; echo x > f", [("sub/f", "certain")]),
        ("a && b | cat > f", [("f", "possible")]),
        ("a | cat > f", [("f", "certain")]),
        ("a || b 2>&1 | tee f", [("f", "possible")]),
        ("a && b > g | tee f", [("g", "possible"), ("f", "possible")]),
        ("x && a && b 2>&1 | tee f > g", [("f", "possible"), ("g", "possible")]),
        ("a && b > f && c > g", [("f", "possible"), ("g", "possible")]),
        ("a || cat > f <<E\nx\nE", [("f", "possible")]),
        ("a || cat <<E > f\nx\nE", [("f", "possible")]),
        ("! a > f", [("f", "certain")]),
        ("(a || b) > f", [("f", "certain")]),
        ("if a; then b; fi > f", [("f", "certain")]),
        ("a && > f", [("f", "possible")]),
        ("> f", [("f", "certain")]),
    ],
)
def test_a_redirection_is_as_certain_as_its_command_and_lies_where_the_command_runs(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert writes(text) == expected


def test_status_0_of_an_alternative_proves_no_redirection() -> None:
    kernel = [launch(), start(1.1, SHELL, "bash", "-c", "true || echo x >> f"), leave(1.4, SHELL)]
    evidence = read(bundle(agent=[shell("c1", "true || echo x >> f")], kernel=kernel, before=[]))
    assert [act.state for act in evidence.all_acts if act.kind == "write"] == ["attempted"]


def test_a_program_fed_by_a_here_document_behind_a_condition_is_read() -> None:
    commands = read_shell("a && python3 - <<'E'\nimport os\nos.remove('q')\nE", WORKSPACE, rules())
    kinds = [(command.argv, [reading.kind for reading in command.readings]) for command in commands]
    assert kinds[-1] == (("python3", "-"), ["delete"])


def test_status_0_of_an_alternative_that_is_piped_proves_nothing_of_the_pipe() -> None:
    evidence = read(bundle(agent=[shell("c1", "true || make 2>&1 | tee f")]))
    assert [act.state for act in evidence.all_acts if act.kind == "write"] == ["entered"]
