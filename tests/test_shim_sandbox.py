"""Both forms of the shim over the real system, inside a bare bubblewrap."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from overeager.audit.shim.build import Form, build, compiler
from overeager.audit.shim.coverage import Seen, match, probe_calls, probe_script
from overeager.audit.shim.mounts import mounts, names, scripts
from overeager.audit.shim.record import ShimRecord, decode, split
from overeager.contract.effects import Identity
from overeager.sandbox.locate import locate_bubblewrap

pytestmark = pytest.mark.sandbox

COMMANDS = ("cat", "env", "git", "mkdir", "npm", "pip", "pkill", "python3", "rm", "xargs")
FORMS: list[Form] = [form for form in get_args(Form) if compiler(form) is not None]
COMPILED = [form for form in FORMS if form != "sh"]


class Outcome(NamedTuple):
    status: int
    output: str
    errors: str
    records: list[ShimRecord]


class Box(NamedTuple):
    """A sandbox that is made anew for each command."""

    root: Path
    form: Form
    argv: list[str]

    def run(self, *command: str, before: tuple[str, ...] = (), stdin: bytes = b"") -> Outcome:
        """Run `command` under the shim's init and gather what the shims told meanwhile."""
        inlet = _open_pipe(self.root / "n") if self.form == "sh" else _open_socket(self.root / "n")
        found: list[bytes] = []
        end_read, end_write = os.pipe()
        reader = threading.Thread(target=_gather, args=(inlet, end_read, self.form, found))
        reader.start()
        argv = [*self.argv, *before, "--", "/usr/local/libexec/init", *command]
        try:
            done = subprocess.run(argv, input=stdin, capture_output=True, timeout=30, check=False)
        finally:
            os.close(end_write)
            reader.join()
        os.close(end_read)
        os.close(inlet)
        (self.root / "n").unlink()
        records = [record for record in map(decode, found) if record is not None]
        assert len(records) == len(found)
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode(), records)


def _open_socket(path: Path) -> int:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(path))
        return receiver.detach()


def _open_pipe(path: Path) -> int:
    os.mkfifo(path)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK)


def _gather(inlet: int, end: int, form: Form, found: list[bytes]) -> None:
    """Read until `end` hangs up and nothing is left."""
    rest = b""
    while ready := select.select([inlet, end], [], [])[0]:
        if inlet not in ready:
            return
        data = os.read(inlet, 1 << 18)
        if form == "sh":
            records, rest = split(rest + data)
            found.extend(records)
        else:
            found.append(data)


def _box(form: Form) -> Box:
    root = Path(tempfile.mkdtemp(prefix="w"))
    local = root / "local"
    for folder in ("bin", "libexec"):
        (local / folder).mkdir(parents=True)
    (local / "libexec/init").touch()
    bubblewrap = locate_bubblewrap(root / "b", Identity(os.getuid(), os.getgid(), drop=False))
    argv = [
        str(bubblewrap.executable),
        *["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--as-pid-1", "--die-with-parent"],
    ]
    argv += ["--ro-bind", "/usr", "/usr", "--bind", str(local), "/usr/local", "--ro-bind", "/etc", "/etc"]
    argv += [word for name in ("bin", "sbin", "lib", "lib64") for word in ("--symlink", f"usr/{name}", f"/{name}")]
    argv += [
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
        "--dir",
        "/run/systemd",
        "--chdir",
        "/tmp",
        "--clearenv",
    ]
    argv += ["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/tmp"]
    argv += ["--ro-bind", str(root / "n"), "/run/systemd/notify"]
    binary = build(root / "c", form=form)
    argv += ["--ro-bind", str(binary.path), "/usr/local/libexec/init"]
    argv += [word for mount in mounts(binary, COMMANDS) for word in ("--ro-bind", str(mount.source), mount.target)]
    return Box(root, form, argv)


@pytest.fixture(scope="module", params=FORMS)
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    made = _box(request.param)
    yield made
    shutil.rmtree(made.root)


@pytest.fixture(scope="module", params=COMPILED)
def compiled(request: pytest.FixtureRequest) -> Iterator[Box]:
    made = _box(request.param)
    yield made
    shutil.rmtree(made.root)


@pytest.fixture(scope="module")
def script_box() -> Iterator[Box]:
    made = _box("sh")
    yield made
    shutil.rmtree(made.root)


def need(command: str) -> None:
    if not names([command]):
        pytest.skip(f"this machine has no /usr/bin/{command}")


def commands_of(outcome: Outcome) -> list[str]:
    return [record.command for record in outcome.records]


@pytest.mark.parametrize(
    "text",
    [
        "rm x",
        "\\rm x",
        "command rm x",
        "r=rm; $r x",
        "/bin/rm x",
        "/usr/bin/rm x",
        "cd /usr/bin; ./rm x",
        "sh -c 'rm x'",
        "bash -c 'rm x'",
        "bash -lc 'rm x'",
        "sh -lc 'rm x'",
        "PATH=/usr/bin:/bin rm x",
        "hash -p /bin/rm rm; rm x",
        "find /usr/bin -maxdepth 0 -exec rm x ';'",
        "bash -c 'exec -a cat rm x'",
        "setsid rm x",
    ],
)
def test_every_spelling_of_a_call_meets_the_shim(compiled: Box, text: str) -> None:
    outcome = compiled.run("/bin/bash", "-c", f"{text} 2>/dev/null; exit 0")
    assert [record.command for record in outcome.records] == ["rm"]
    assert outcome.records[0].argv[1:] == ("x",)


def test_a_call_without_an_environment_meets_the_shim(box: Box) -> None:
    assert commands_of(box.run("/bin/sh", "-c", "env -i rm -f x")) == ["env", "rm"]


def test_the_full_probe_finds_no_gap(box: Box) -> None:
    calls = probe_calls(names_present(), scripts(COMMANDS))
    outcome = box.run("/bin/sh", "-c", probe_script(calls))
    seen = [Seen(record.command, record.argv, record.time) for record in outcome.records]
    assert (outcome.output, outcome.errors) == ("", "")
    assert match(calls, seen).gaps == ()


def names_present() -> list[str]:
    # env calls every command of its own form, which would blur nothing but adds calls that nobody expects.
    return sorted({command for commands in names(COMMANDS).values() for command in commands} - {"env"})


def test_the_probe_names_the_form_that_a_shim_first_in_path_alone_would_miss(box: Box) -> None:
    need("pip")
    calls = probe_calls(["pip"])
    outcome = box.run("/bin/sh", "-c", probe_script(calls))
    seen = [Seen(record.command, record.argv, record.time) for record in outcome.records]
    gaps = match(calls, seen).gaps
    assert [call.tool_call for call in gaps if call.command == "pip"] == ["env -i", "absolute path"]


def test_a_linked_program_is_known_by_its_command(box: Box) -> None:
    outcome = box.run("/bin/sh", "-c", "python3 -c 'import sys; print(sys.executable)'")
    assert commands_of(outcome) == ["python3"]
    if box.form != "sh":
        assert outcome.output == "/usr/bin/python3\n"


def test_one_file_under_two_names_is_told_apart(compiled: Box) -> None:
    need("pkill")
    outcome = compiled.run("/bin/sh", "-c", "pkill nobody-of-this-name; pgrep nobody-of-this-name")
    assert set(names(COMMANDS)["pgrep"]) == {"pkill"}
    assert commands_of(outcome) == ["pkill", "pgrep"]


def test_a_script_runs_at_its_own_path_and_stays_readable(box: Box) -> None:
    need("pip")
    outcome = box.run("/bin/sh", "-c", "pip --version && python3 /usr/bin/pip --version")
    assert outcome.status == 0
    assert "pip" in commands_of(outcome)
    first, second = outcome.output.splitlines()
    assert first == second


def test_a_node_script_behind_a_link_finds_its_modules(box: Box) -> None:
    need("npm")
    outcome = box.run("/bin/sh", "-c", "npm --version")
    assert (outcome.status, outcome.errors) == (0, "")
    assert "npm" in commands_of(outcome)


def test_without_proc_a_shim_still_becomes_its_command(compiled: Box) -> None:
    outcome = compiled.run("/bin/cat", "/etc/hostname", before=("--tmpfs", "/proc"))
    assert outcome.status == 0
    assert commands_of(outcome) == ["cat"]


def test_status_signal_and_streams_pass_through_both_forms(box: Box) -> None:
    failing = "python3 -c 'import os; os.write(2, b\"e\"); os._exit(5)'"
    killed = "exec python3 -c 'import os; os.kill(os.getpid(), 15)'"
    script = f"cat; {failing}; echo $?; {killed}"
    outcome = box.run("/bin/sh", "-c", script, stdin=b"in\n")
    assert (outcome.status, outcome.output, outcome.errors) == (128 + 15, "in\n5\n", "e")


def test_init_reaps_what_is_left_to_it_and_nothing_outlives_it(box: Box) -> None:
    count = "cd /proc; for p in [0-9]*; do grep -l '^State:.Z' $p/status 2>/dev/null; done | wc -l"
    outcome = box.run(
        "/bin/sh", "-c", f"for n in 1 2 3; do (sleep 0.01 &) ; done; sleep 0.3; (setsid sleep 600 &); {count}"
    )
    assert (outcome.status, outcome.output.strip()) == (0, "0")


def test_init_is_the_first_process_and_its_child_leads_a_session(box: Box) -> None:
    outcome = box.run("/bin/sh", "-c", "echo $PPID; cut -d' ' -f6 /proc/$$/stat; echo $$")
    parent, session, pid = outcome.output.split()
    assert (parent, session) == ("1", pid)


def test_the_sh_form_says_what_it_leaves_out(script_box: Box) -> None:
    outcome = script_box.run("/bin/sh", "-c", "rm -f " + "x" * 2000 + "; rm -f short")
    assert [(record.argv[1:], record.cut) for record in outcome.records] == [((), 2), (("-f", "short"), 0)]
    assert {record.time for record in outcome.records} == {None}


def test_the_sh_form_loses_no_record_of_two_hundred_calls_at_once(script_box: Box) -> None:
    outcome = script_box.run("/bin/sh", "-c", "for n in $(seq 200); do rm -f '\n' $n & done; wait")
    assert sorted(int(record.argv[3]) for record in outcome.records) == list(range(1, 201))


def test_no_two_shims_have_one_content_and_each_looks_like_its_program(compiled: Box) -> None:
    text = "cd /usr/bin; sha256sum cat rm git | cut -c-64; stat -c %s:%Y rm ../local/libexec/bin/rm"
    words = compiled.run("/bin/sh", "-c", text).output.split()
    assert len(set(words[:3])) == 3
    assert words[3] == words[4]
