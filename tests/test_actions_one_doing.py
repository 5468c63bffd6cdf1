"""What is one doing, seen by several channels or named in several ways."""

from __future__ import annotations

import pytest

from actions_kit import (
    AGENT,
    HOME,
    SECRET,
    TOOL,
    WORKSPACE,
    bundle,
    call,
    diff,
    entry,
    launch,
    leave,
    only,
    read,
    rules,
    shell,
    shim,
    start,
    tool,
)  # fmt: skip
from overeager.actions.read import read_argv
from overeager.actions.shell import read_shell
from overeager.contract.signals import signal_name

pytestmark = pytest.mark.pure

X, Y = f"{WORKSPACE}/x", f"{WORKSPACE}/y"


def test_a_wildcard_is_one_doing_for_each_match() -> None:
    kernel = [
        launch(),
        start(1.1, TOOL, "bash", "-c", "rm *.log"),
        start(1.2, TOOL, "rm", "a.log", "b.log", first=False),
        call(1.3, TOOL, "unlinkat", f"{WORKSPACE}/a.log"),
        call(1.3, TOOL, "unlinkat", f"{WORKSPACE}/b.log"),
        leave(1.4, TOOL),
    ]
    names = [f"{WORKSPACE}/{name}" for name in ("a.log", "b.log")]
    evidence = read(
        bundle(
            agent=[shell("c1", "rm *.log")],
            shims=[shim(1.2, TOOL, "rm", "a.log", "b.log")],
            kernel=kernel,
            before=[entry(name) for name in names],
            after=[],
            changes=[diff("deleted", name) for name in names],
        )
    )
    acts = [act for act in evidence.all_acts if act.kind == "delete"]
    assert [[target.value for target in act.targets] for act in acts] == [[name] for name in names]
    assert {act.channels for act in acts} == {("agent", "fs", "kernel", "shim")}


def test_a_link_is_known_by_its_own_path_since_the_kernel_does_not_see_what_it_names() -> None:
    kernel = [
        launch(),
        start(1.1, TOOL, "ln", "-s", "x", "y"),
        call(1.2, TOOL, "symlinkat", Y, found=False),
        leave(1.3, TOOL),
    ]
    link = {**diff("created", Y, None, "x"), "type": "link"}
    evidence = read(bundle(agent=[shell("c1", "ln -s x y")], kernel=kernel, before=[entry(X)], changes=[link]))
    assert only(evidence, "link").channels == ("agent", "fs", "kernel")


def test_an_edit_reads_the_file_that_it_edits() -> None:
    kernel = [launch(), call(1.1, AGENT, "openat", SECRET, flags=0), call(1.2, AGENT, "openat", SECRET, flags=0o1)]
    evidence = read(bundle(agent=[tool("c1", "edit", SECRET)], kernel=kernel, before=[entry(SECRET)]))
    act = only(evidence, "edit")
    assert {action.kind for action in act.actions} == {"edit", "read", "write"}
    (witness,) = evidence.narrowed(("agent", "kernel", "shim"), "executed").acts("read", path=SECRET)
    assert witness.certain


def test_a_write_by_a_tool_reads_nothing() -> None:
    kernel = [launch(), call(1.1, AGENT, "openat", SECRET, flags=0)]
    evidence = read(bundle(agent=[tool("c1", "write", SECRET)], kernel=kernel, before=[entry(SECRET)]))
    assert only(evidence, "write").channels == ("agent",)


def test_a_changed_file_belongs_to_the_act_that_names_its_other_hard_link() -> None:
    entries = [entry(X, links=2), entry(Y, links=2)]
    changes = [diff("modified", X, "a", "b"), diff("modified", Y, "a", "b")]
    evidence = read(bundle(agent=[shell("c1", "echo z > x")], before=entries, after=entries, changes=changes))
    act = only(evidence, "write")
    assert {target.value for action in act.actions for target in action.targets} == {X, Y}


def test_files_with_equal_bytes_and_one_name_each_are_not_one_file() -> None:
    changes = [diff("modified", X, "a", "b"), diff("modified", Y, "a", "b")]
    evidence = read(bundle(agent=[shell("c1", "echo z > x")], before=[entry(X), entry(Y)], changes=changes))
    alone = [act for act in evidence.all_acts if act.kind == "write" and act.channels == ("fs",)]
    assert [act.targets[0].value for act in alone] == [Y]


@pytest.mark.parametrize("text", ["python3 - <<'P'\nprint(1)\nP", "python3 - <<P | cat\nprint(1)\nP"])
def test_a_lone_dash_before_a_here_document_is_a_word(text: str) -> None:
    assert ("python3", "-") in [command.argv for command in read_shell(text, WORKSPACE, rules())]


def test_what_a_text_substitutes_was_done_by_the_shell_that_read_it_first() -> None:
    commands = read_shell('bash -c "echo $(cat x)"', WORKSPACE, rules())
    assert [command.reached for command in commands if command.argv[0] == "cat"] == ["certain", "possible"]
    single = read_shell("bash -c 'echo $(cat x)'", WORKSPACE, rules())
    assert [command.reached for command in single if command.argv[0] == "cat"] == ["certain"]


def test_a_doing_whose_target_the_text_leaves_open_is_what_its_command_is_seen_to_do() -> None:
    kernel = [
        launch(),
        start(1.1, TOOL, "bash", "-c", 'kill "$p"'),
        {**call(1.2, TOOL, "kill"), "target": 50, "signal": 15},
        leave(1.3, TOOL),
    ]
    act = only(read(bundle(agent=[shell("c1", 'kill "$p"')], kernel=kernel)), "signal")
    assert ([target.value for target in act.targets], act.channels) == (["50"], ("agent", "kernel"))


def test_two_signals_of_one_process_to_one_other_are_two_doings() -> None:
    kernel = [
        launch(),
        start(1.1, TOOL, "bash", "-c", "kill -STOP 50; kill -CONT 50"),
        {**call(1.2, TOOL, "kill"), "target": 50, "signal": 19},
        {**call(1.3, TOOL, "kill"), "target": 50, "signal": 18},
    ]
    evidence = read(bundle(agent=[shell("c1", "kill -STOP 50; kill -CONT 50")], kernel=kernel))
    acts = [act for act in evidence.all_acts if act.kind == "signal"]
    assert [(act.actions[0].detail, act.channels) for act in acts] == [
        ("STOP", ("agent", "kernel")),
        ("CONT", ("agent", "kernel")),
    ]


@pytest.mark.parametrize("word", ["9", "KILL", "SIGKILL", "kill"])
def test_a_signal_has_one_name(word: str) -> None:
    assert signal_name(word) == "KILL"


def linked(text: str, kind: str, path: str) -> list[str]:
    """The targets of the act of `kind` of a text, in a world where `way` leads to the folder `real`."""
    link = {**entry(f"{WORKSPACE}/way", kind="link"), "sha256": None, "target": "../real"}
    files = [link, entry(f"{HOME}/real", kind="directory"), entry(f"{HOME}/real/a.txt")]
    evidence = read(bundle(agent=[shell("c1", text)], before=files, **({"after": []} if path == "gone" else {})))
    return [target.value for act in evidence.all_acts if act.kind == kind for target in act.targets]


def test_a_place_is_named_through_the_links_on_its_way() -> None:
    assert linked("rm way/a.txt", "delete", "") == [f"{HOME}/real/a.txt"]
    assert linked("rm way/*.txt", "delete", "") == [f"{HOME}/real/a.txt"]
    assert linked("echo x > way/b.txt", "write", "") == [f"{HOME}/real/b.txt"]


def test_removing_a_link_removes_the_link() -> None:
    assert linked("rm way", "delete", "") == [f"{WORKSPACE}/way"]


def test_a_link_that_did_not_stay_leads_nowhere() -> None:
    assert linked("rm way/a.txt", "delete", "gone") == [f"{WORKSPACE}/way/a.txt"]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["python3", "-c", "os.replace('a', 'b')"], [("move", ["a", "b"])]),
        (["python3", "-c", "shutil.copy('a', 'b')"], [("read", ["a"]), ("write", ["b"])]),
        (["python3", "-c", "open(f'out{i}.txt', 'w')"], [("write", [])]),
        (["node", "-e", "fs.renameSync('a', 'b')"], [("move", ["a", "b"])]),
        (["node", "-e", "fs.copyFileSync('a', 'b')"], [("read", ["a"]), ("write", ["b"])]),
        (["perl", "-e", "rename 'a', 'b'"], [("move", ["a", "b"])]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_program_text_names_both_ends_and_no_place_with_a_hole(
    argv: list[str], expected: list[tuple[str, list[str]]]
) -> None:
    found = [
        (one.kind, [target.value.rpartition("/")[2] for target in one.targets if target.type == "path"])
        for one in read_argv(argv, WORKSPACE, HOME, rules()).readings
        if one.kind != "exec"
    ]
    assert found == expected


def test_a_tool_that_writes_a_file_makes_the_folders_that_it_lies_in() -> None:
    folder, place = f"{WORKSPACE}/pkg", f"{WORKSPACE}/pkg/new.py"
    kernel = [
        launch(),
        call(1.1, AGENT, "mkdir", folder, found=False),
        call(1.2, AGENT, "openat", place, found=False, flags=0o1101),
    ]
    changes = [diff("created", folder, None, None), diff("created", place, None, "b")]
    members = bundle(agent=[tool("c1", "write", place)], kernel=kernel, before=[], after=[], changes=changes)
    acts = [act for act in read(members).all_acts if act.kind in ("create", "write")]
    assert [(act.kind, act.tool_call, act.channels) for act in acts] == [("write", "c1", ("agent", "fs", "kernel"))]


def test_a_program_that_writes_beside_a_file_and_moves_it_over_edits_it() -> None:
    draft = f"{WORKSPACE}/sedAbCd"
    kernel = [
        launch(),
        start(1.1, TOOL, "sed", "-i", "s/a/b/", "x"),
        call(1.2, TOOL, "openat", draft, found=False, flags=0o302),
        call(1.3, TOOL, "fchmod", draft),
        call(1.4, TOOL, "rename", draft, X),
        leave(1.5, TOOL),
    ]
    evidence = read(
        bundle(
            agent=[shell("c1", "sed -i s/a/b/ x")],
            shims=[shim(1.15, TOOL, "sed", "-i", "s/a/b/", "x")],
            kernel=kernel,
            before=[entry(X)],
            changes=[diff("modified", X, "a", "b")],
        )
    )
    acts = [act for act in evidence.all_acts if act.kind in ("create", "write", "edit", "mode", "move")]
    assert [(act.kind, act.channels) for act in acts] == [("edit", ("agent", "fs", "kernel", "shim"))]


def test_a_move_that_the_command_itself_names_stays_a_move() -> None:
    kernel = [
        launch(),
        start(1.1, TOOL, "mv", "y", "x"),
        call(1.2, TOOL, "rename", Y, X),
        leave(1.3, TOOL),
    ]
    evidence = read(bundle(agent=[shell("c1", "mv y x")], kernel=kernel, before=[entry(X), entry(Y)], after=[entry(X)]))
    assert only(evidence, "move").channels == ("agent", "kernel")
