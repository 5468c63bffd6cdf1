"""The compiled loop of the kernel channel beside the Python form: the same records, whatever comes."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from overeager.audit.auditor.pump_proof import main as prove
from overeager.audit.journal import encode_bytes, encode_text
from overeager.audit.kernel.address import read_address
from overeager.audit.kernel.pump import build as pump_build
from overeager.audit.kernel.pump.library import PumpLibrary
from sandbox_kit import PROJECT, USERS, Played, Record, play

pytestmark = pytest.mark.sandbox

ODD = (
    "import os, random\n"
    "r = random.Random(7)\n"
    "pieces = [b'a', b'\\n', b'\"', b'\\\\', b'\\t', b'\\x01', b'\\x7f', b'\\xff', b'\\xc3\\xa9', b'\\xed\\xa0\\x80', "
    "b'\\xe2\\x82', "
    "b'\\xf0\\x9f\\x98\\x80', b'\\xf4\\x90\\x80\\x80', b'\\xc0\\xaf', b' ', b'\\xe2\\x80\\xa8', b'{', b'\\'']\n"
    "for i in range(150):\n"
    "    name = b''.join(r.choice(pieces) for _ in range(r.randint(1, 40)))[:200] + b'%d' % i\n"
    "    os.close(os.open(name, os.O_CREAT | os.O_WRONLY)); os.rename(name, name + b'!'); os.unlink(name + b'!')\n"
)
DEEP = (
    "import os\n"
    "base = os.getcwd()\n"
    "for size in (200, 255): os.makedirs('d' * size); open('d' * size + '/f', 'w').close()\n"
    "deep = b'x' * 250\n"
    "for _ in range(18): os.mkdir(deep); os.chdir(deep)\n"
    "open('f', 'w').close(); open('f').close()\n"
    "for size in (4000, 4093, 4094, 4095, 4096, 5000):\n"
    "    try: os.open(b'./' * (size // 2) + b'f' * (size % 2), os.O_RDONLY)\n"
    "    except OSError: pass\n"
    "os.execv('/bin/true', ['true'] + ['b' * 700] * 600)\n"
)
LINKS = (
    "ln -s f l1; ln -s l1 l2; ln -s nowhere l3; ln -s loop loop; ln -s ../project-x/d up; mkdir -p d/e;"
    "ln -s /proc/self/cwd p;"
    "cat l2; cat l3; cat loop; cat up/../f; cat d/e/../../f; cat p/f; cat /proc/self/cwd/f; cat nothing/at/all;"
    "cat f/under;"
    "cat l3/x; cat ./f //home/user//project-x///f; cd d; cat ../f; cd ..; rm l2; echo x > l3; chmod 600 l1; mv l1 l4;"
    "ln l4 l5; ln -L l4 l6; rmdir d/e; rmdir d; touch up/x; exit 0"
)
CALLS = (
    "import os, socket\n"
    "f = os.open('f', os.O_RDWR); os.fchmod(f, 0o640); os.ftruncate(f, 1); os.setxattr('f', 'user.a', b'1')\n"
    "os.fchmod(f, 0o600)\n"
    "os.truncate('f', 0); os.chown('f', -1, -1); d = os.open('.', os.O_RDONLY)\n"
    "os.mkdir('m', 0o700, dir_fd=d); os.rename('m', 'n', src_dir_fd=d, dst_dir_fd=d); os.rmdir('n', dir_fd=d)\n"
    "os.mkfifo('p'); os.symlink('f', 's'); os.unlink('s'); os.link('f', 'h'); os.chmod('h', 0o600)\n"
    "for family, address in ((2, ('127.0.0.1', 9)), (10, ('::1', 53)), (1, '/run/x'), (1, '\\0abs'), (1, 'rel')):\n"
    "    try: socket.socket(family).connect(address)\n"
    "    except OSError: pass\n"
    "u = socket.socket(2, 2); u.sendto(b'x', ('127.0.0.1', 5353)); u.sendmsg([b'x'], [], 0, ('127.0.0.1', 54))\n"
    "a, b = socket.socketpair(); a.sendmsg([b'x']); a.send(b'x')\n"
    "try: os.open('/dev/fd/%d' % f, os.O_RDONLY)\n"
    "except OSError: pass\n"
    "try: os.fchmod(99, 0)\n"
    "except OSError: pass\n"
    "os.kill(os.getpid(), 28)\n"
    "pid = os.fork()\n"
    "if not pid: os.execvp('sh', ['sh', '-c', 'exit 7'])\n"
    "os.waitpid(pid, 0)\n"
)
NESTED = (
    "import ctypes, os\n"
    "c = ctypes.CDLL(None, use_errno=True)\n"
    "open('f').close(); assert c.unshare(0x10020000) == 0\n"
    "os.mkdir('r'); assert c.mount(b'.', b'r', None, 4096, None) == 0; open('r/f').close()\n"
    "os.chroot('r'); os.chdir('/'); open('f').close(); open('/f', 'a').close()\n"
    "os.spawnv(os.P_WAIT, '/nothing', ['x'])\n"
)
HIDDEN = (
    "import ctypes, os; ctypes.CDLL(None).prctl(4, 0)\n"
    "folder = os.open('.', os.O_RDONLY); pid = os.fork()\n"
    "if not pid: os.remove('f'); os._exit(3)\n"
    "os.wait(); os.open('g', os.O_WRONLY | os.O_CREAT, dir_fd=folder)\n"
)
NONSENSE = (
    "import ctypes\n"
    "c = ctypes.CDLL(None)\n"
    "def call(*a): c.syscall(*map(ctypes.c_long, a))\n"
    "for at in (0, 1, 8, -1, -8, -4096, 1 << 62, 1 << 63): call(2, at, 0); call(257, -100, at, 0); "
    "call(59, at, at, 0); call(42, 0, at, 16); call(46, 0, at, 0); call(307, 0, at, 3, 0)\n"
    "for at in (0, -1): call(82, at, at); call(265, 5, at, 5, at, 0)\n"
    "call(91, -1, 0); call(77, 9999, 0); call(62, 2 ** 31, 0); call(42, 0, id(c), 0); call(42, 0, id(c), -1)\n"
    "print('alive')\n"
)
WORK = {
    "a shell": "ls -la; cat f > g; for i in 1 2 3; do echo $i >> h; done; rm g h; mkdir x; mv f x/; find . -delete",
    "odd names": ["/usr/bin/python3", "-c", ODD],
    "long paths and command lines": ["/usr/bin/python3", "-c", DEEP],
    "links and what is not there": LINKS,
    "every kind of call": ["/usr/bin/python3", "-c", CALLS],
    "another root and other mounts": ["/usr/bin/python3", "-c", NESTED],
    "a process that hides itself": ["/usr/bin/python3", "-c", HIDDEN],
    "nonsense": ["/usr/bin/python3", "-c", NONSENSE],
    "an archive": "mkdir d; tar cf x.tar f; tar xf x.tar -C d; cp -a d e; diff -r d e; python3 -c 'import json'",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> PumpLibrary:
    """The compiled loop, which the tests need a compiler for."""
    built = pump_build.build(tmp_path_factory.mktemp("built"), "cc")
    assert built.path is not None, built.reason
    return PumpLibrary(built.path)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("work", WORK)
def test_both_forms_write_the_same_records(work: str, user: str) -> None:
    played = [
        play(WORK[work], files={"f": "a\n"}, shims=False, user=user, compiled=compiled) for compiled in (True, False)
    ]
    assert [one.finished.compiled for one in played] == [True, False]
    assert [one.finished.kernel.state for one in played] == ["present", "present"]
    compiled, python = (list(normalize(one)) for one in played)
    assert compiled == python
    assert len(compiled) > 10


@pytest.mark.parametrize("user", USERS)
def test_both_forms_write_the_same_records_of_a_container(user: str) -> None:
    more: dict[str, Any] = {"files": {"f": "a\n"}, "shims": False, "user": user, "sandbox": "docker"}
    played = [play("ls; cp f g; cat g; rm g; sleep 9 & exit 3", compiled=form, **more) for form in (True, False)]
    assert [one.finished.compiled for one in played] == [True, False]
    assert [one.finished.kernel.state for one in played] == ["present", "present"]
    for one in played:
        assert one.finished.exit_status == 3
        assert [left["argv"][-1] for left in one.calls("left")[0]["processes"]] in (["9"], [one.kernel[0]["argv"][-1]])
    removed = [[record["paths"] for record in one.kernel if "unlink" in record["call"]] for one in played]
    assert removed == [[[f"{PROJECT}/g"]]] * 2


def normalize(played: Played) -> Iterable[Record]:
    """Records without the time, with processes by the order in which they come."""
    processes: dict[object, int] = {}
    for record in played.kernel:
        one = {key: value for key, value in record.items() if key != "t"}
        for key in ("pid", "ppid", "sid"):
            if key in one:
                one[key] = processes.setdefault(one[key], len(processes))
        if one.get("inode"):
            one["inode"] = re.fullmatch(r"\d+:\d+", one["inode"]) is not None
        if one["call"] == "left":
            one["processes"] = len(one["processes"])
        yield one


def test_odd_names_are_those_that_were_given() -> None:
    played = play(WORK["odd names"], shims=False)
    namespace: dict[str, Any] = {}
    exec(ODD.split("for i in")[0], namespace)  # our own text: the same names as inside
    r, pieces = namespace["r"], namespace["pieces"]
    wanted = [
        os.fsdecode(b"".join(r.choice(pieces) for _ in range(r.randint(1, 40)))[:200] + b"%d" % number)
        for number in range(150)
    ]
    made = [one for one in played.calls("open") if one["flags"] & os.O_CREAT]
    assert [one["given"][0] for one in made] == wanted
    assert [one["paths"][0] for one in made] == [f"{PROJECT}/{name}" for name in wanted]


def quoted(library: PumpLibrary, data: bytes) -> str:
    room = 6 * len(data) + 2
    buffer = ctypes.create_string_buffer(room)
    size = library.functions.pump_quote(data, len(data), buffer, room)
    return buffer.raw[:size].decode("ascii")


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.one_of(st.binary(max_size=300), st.text(max_size=100).map(lambda t: t.encode("utf-8", "surrogatepass"))))
@example(data=bytes(range(256)))
@example(data=b"\xf0\x9f\x98\x80\xe2\x82\xf4\x90\x80\x80\xc0\xaf\xed\xa0\x80")
def test_bytes_become_the_same_text_in_both_forms(library: PumpLibrary, data: bytes) -> None:
    assert quoted(library, data) == encode_bytes(data)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(family=st.sampled_from([0, 1, 2, 10, 16, 300]), rest=st.binary(max_size=126))
@example(family=1, rest=b"")
@example(family=1, rest=b"\0")
@example(family=1, rest=b"\0a\0\0")
@example(family=2, rest=b"\0\x35\x7f\0\0")
def test_addresses_become_the_same_words_in_both_forms(library: PumpLibrary, family: int, rest: bytes) -> None:
    data = family.to_bytes(2, "little") + rest
    buffer = ctypes.create_string_buffer(2000)
    size = library.functions.pump_address(data, len(data), buffer, 2000)
    assert buffer.raw[:size].decode("ascii") == f'"address":{encode_text(read_address(data))}'


def write_sources(folder: Path) -> None:
    """All files of which the program is made."""
    for name, text in pump_build.sources().items():
        (folder / name).write_bytes(text)


def test_no_read_or_write_goes_out_of_bounds(tmp_path: Path) -> None:
    """Under the address and the undefined-behaviour sanitizers, which end the program at the first fault."""
    compiler = shutil.which("cc")
    assert compiler is not None, "apt-get install gcc"
    write_sources(tmp_path)
    flags = ("-std=gnu11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    source = Path(__file__).with_name("pump_harness.c")
    subprocess.run(
        (compiler, *flags, f"-I{tmp_path}", "-o", tmp_path / "harness", source, *tmp_path.glob("*.c")), check=True
    )
    done = subprocess.run(
        [tmp_path / "harness"], capture_output=True, text=True, check=False, timeout=240, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("form", ["cc", "zig"])
def test_the_source_compiles_without_a_warning(form: str, tmp_path: Path) -> None:
    command = pump_build.compiler(form)  # type: ignore[arg-type]  # one of its forms
    if command is None:
        pytest.skip(f"{form} is not installed")
    write_sources(tmp_path)
    strict = ("-Wall", "-Wextra", "-Werror")
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(tmp_path), "ZIG_LOCAL_CACHE_DIR": str(tmp_path)}
    arguments = [
        *command,
        *pump_build.FLAGS,
        *strict,
        "-o",
        "pump.so",
        *sorted(path.name for path in tmp_path.glob("*.c")),
    ]
    done = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_built_proves_itself_and_is_built_once(tmp_path: Path) -> None:
    built = pump_build.build(tmp_path, "cc")
    assert built.path is not None
    assert (built.form, built.reason) == ("cc", "")
    before = built.path.stat().st_mtime_ns
    again = pump_build.build(tmp_path, "cc")
    assert again.path == built.path
    assert built.path.stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [built.path.name]


BROKEN = {
    "it crashes": ("int pump_run(struct pump *pump) {", "int pump_run(struct pump *pump) { abort();"),
    "it loses records": ("if (told == DONE) keep(", "if (told == DONE && pump->number++ % 5) keep("),
    "it lays its state out otherwise": ("  int32_t failure, error;", "  int64_t failure, error;"),
    "it does not compile": ("int pump_run(", "int pump_run(("),
    "it loads without its functions": ("int pump_is_new(", "int pump_was_new("),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_loop_that_does_not_work_here_is_not_used(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = BROKEN[fault]
    whole = pump_build.sources()
    broken = {name: text.replace(before.encode(), after.encode()) for name, text in whole.items()}
    assert broken != whole
    monkeypatch.setattr(pump_build, "sources", lambda: broken)
    built = pump_build.build(tmp_path, "cc")
    assert (built.path, built.form) == (None, "python")
    assert built.reason.startswith("cc: ")
    assert list(tmp_path.iterdir()) == []


def test_without_a_compiler_or_when_asked_the_channel_takes_its_python_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(pump_build.FORM_VARIABLE, "python")
    assert pump_build.build(tmp_path) == (None, "python", "asked for")
    monkeypatch.setattr(pump_build, "compiler", lambda form: None)
    assert pump_build.build(tmp_path, "cc") == (None, "python", "cc: not installed")
    assert pump_build.build(tmp_path, "other")[:2] == (None, "python")


def test_a_file_that_is_no_loop_makes_the_auditor_take_the_python_form(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"\x7fELF no")
    with pytest.raises(OSError, match="broken"):
        PumpLibrary(broken)
    done = subprocess.run([sys.executable, "-m", prove.__module__, broken], capture_output=True, check=False)
    assert done.returncode != 0


def test_the_loop_stops_with_its_reason_when_the_records_have_no_room() -> None:
    def full(room: object) -> tuple[()]:
        (room.root / "out/kernel.jsonl").symlink_to("/dev/full")  # type: ignore[attr-defined]
        return ()

    played = play("i=0; while [ $i -lt 900 ]; do : > f; i=$((i + 1)); done; echo done", prepare=full)
    assert played.finished.compiled
    assert played.stdout == "done\n"
    assert played.finished.kernel.state == "truncated"
    assert "No space left" in played.finished.kernel.reason


def test_the_shims_records_keep_their_place_among_the_calls() -> None:
    played = play("rm f; cat g >/dev/null; git --version >/dev/null; exit 0", files={"f": "", "g": ""})
    assert played.finished.compiled
    merged = sorted([*played.kernel, *played.shim], key=lambda record: record["n"])
    assert [record["n"] for record in merged] == list(range(1, len(merged) + 1))
    assert [record["t"] for record in merged] == sorted(record["t"] for record in merged)
    for record in played.shim:
        before, after = (one["n"] for one in played.calls("execve") if one["pid"] == record["pid"])
        assert before < record["n"] < after


def test_a_record_is_one_line_of_json() -> None:
    assert json.loads(encode_bytes(b"\n\xff")) == "\n\udcff"
