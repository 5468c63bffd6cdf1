"""A machine that lacks something: a CLI, its right bytes, room, permission. Nothing that was sealed is lost."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bad_kit import SCENARIO, refusal
from overeager.loading.registry import load_registry
from overeager.sandbox.identity import choose_identity
from overeager.store.cache import open_cache
from overeager.store.install import host_platform, install
from run_kit import DEMO, demo_scenario, overeager, write_bench
from sandbox_kit import play

pytestmark = pytest.mark.sandbox

CLI = ("--agent", "claude-code", "--upstream", "persona:cautious", "--variant", "kept", "--scenario", SCENARIO)


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def cache(open_folder: Path) -> Path:
    """A copy of this machine's cache without any CLI."""
    own = open_cache(os.environ, choose_identity()).root
    overeager("run", DEMO, "--scenario", SCENARIO, "--out", open_folder / "warm", "--upstream", "persona:cautious")
    keep_out = shutil.ignore_patterns("opt", "trees", ".*")
    copy = Path(shutil.copytree(own, open_folder / "cache", ignore=keep_out, dirs_exist_ok=True))
    copy.chmod(0o755)
    return copy


def test_a_cli_that_is_not_installed_is_refused_with_the_command_that_fetches_it(cache: Path, tmp_path: Path) -> None:
    said = refusal(
        "run", DEMO, *CLI, "--out", tmp_path / "run", environment={"OVEREAGER_CACHE": str(cache)}, code="AGT007"
    )
    assert "run `overeager agents install claude-code@2.1.117`" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real_cli
def test_a_cli_of_which_one_byte_was_changed_is_not_executed(cache: Path, tmp_path: Path) -> None:
    vendor = load_registry(("overeager.agents",), agents=("claude-code",)).agent("claude-code").vendor
    assert vendor is not None
    own = open_cache(os.environ, choose_identity()).root
    binary = install(vendor, None, host_platform(), own, print).binary
    copy = cache / binary.relative_to(own)
    copy.parent.mkdir(parents=True)
    shutil.copy(binary, copy)
    with copy.open("r+b") as file:
        file.seek(copy.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))
    try:
        said = refusal(
            "run", DEMO, *CLI, "--out", tmp_path / "run", environment={"OVEREAGER_CACHE": str(cache)}, code="AGT006"
        )
    finally:
        shutil.rmtree(cache / "opt")
    assert re.search(r"SHA-256 [0-9a-f]{64}, pinned [0-9a-f]{64}", said)
    assert f"in {copy}" in said
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_is_no_folder_is_refused(open_folder: Path) -> None:
    place = open_folder / "file"
    place.write_text("")
    assert f"in {place}" in refusal("run", DEMO, environment={"OVEREAGER_CACHE": str(place)}, code="STO003")


def run_with_mounts(script: str, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script where it may mount what it likes and nobody else sees it."""
    own = open_cache(os.environ, choose_identity()).root
    return subprocess.run(
        ["unshare", "-m" if os.geteuid() == 0 else "-Urm", "sh", "-c", script, "sh", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OVEREAGER_CACHE": str(own), **variables},
    )


FULL = """
set -u
mount -t tmpfs -o size=76k none "$1" || exit 99
cd "$1" && shift
"$@"; echo "full: $?"
find run -name '*.zip' -exec sha256sum {} + | sort -k 2; echo "left: $(find . -name '*.part')"
mount -o remount,size=4m . && eval "$(tail -n 1 "$SAID")"; echo "resumed: $?"
find run -name '*.zip' -exec sha256sum {} + | sort -k 2
"""


def test_a_disk_that_fills_up_while_sealing_loses_nothing_and_the_run_goes_on(tmp_path: Path) -> None:
    """On a tmpfs of its own, in a mount namespace of its own; the last line, the command that goes on, is pasted."""
    bench = write_bench(tmp_path / "bench", [demo_scenario(SCENARIO)])
    disk = tmp_path / "disk"
    disk.mkdir()
    run = [sys.executable, "-m", "overeager.cli", "run", bench, "--upstream", "persona:cautious", "--variant", "kept"]
    run += ["--repeats", "6", "-j", "1", "--out", "run"]
    said = tmp_path / "said"
    recorded = f"{shlex.join(map(str, run))} 2> {said}"
    done = run_with_mounts(FULL, disk, "sh", "-c", recorded, SAID=str(said))
    told = said.read_text()
    assert "full: 2\n" in done.stdout, (done, told)
    assert "Traceback" not in told
    assert "RUN008 the run stopped: STO021 no room to seal the bundle: No space left on device" in told
    assert "~consent_kept~cautious~r" in told.partition("STO021")[2]
    before, _, after = done.stdout.partition("left: ")
    assert after.startswith("\n"), "a draft was left behind"
    assert "resumed: 0\n" in after, (done, told)
    sealed = [line for line in before.splitlines() if line.endswith(".zip")]
    finished = [line for line in after.splitlines() if line.endswith(".zip")]
    assert 1 <= len(sealed) < 6
    assert len(finished) == 6
    assert set(sealed) < set(finished), "a sealed bundle was touched"


CLOSED = """
mount -t tmpfs none "$1" && cd "$1" && cp -r "$2" old && cp -r "$2" raw && rm -r raw/verdicts || exit 99
mount -o remount,ro . || exit 99
shift 2
"$@" run "$BENCH" --variant kept --upstream persona:cautious --out new; echo "new: $?"
"$@" run "$BENCH" --variant kept --upstream persona:cautious --out old --resume; echo "resume: $?"
"$@" judge raw; echo "judge: $?"
"$@" report old --format csv > /dev/null; echo "report: $?"
"""


def test_an_output_that_is_read_only_is_refused_and_can_still_be_reported(tmp_path: Path) -> None:
    bench = write_bench(tmp_path / "bench", [demo_scenario(SCENARIO)])
    run = tmp_path / "run"
    options = ("--variant", "kept", "--upstream", "persona:cautious")
    assert overeager("run", bench, *options, "--out", run).returncode == 0
    assert overeager("judge", run).returncode == 0
    (tmp_path / "disk").mkdir()
    arguments = (tmp_path / "disk", run, sys.executable, "-m", "overeager.cli")
    done = run_with_mounts(CLOSED, *arguments, BENCH=str(bench))
    assert done.stdout.splitlines() == ["new: 2", "resume: 2", "judge: 2", "report: 0"], done
    said = "STO025 the run folder cannot be written: Read-only file system\n  in {}\n  "
    for place in ("new", "old"):
        assert said.format(place) in done.stderr
    assert "STO030 the verdict cannot be written: Read-only file system\n  in raw/verdicts/" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("out", ["/proc/run", "/dev/null", "/dev/null/run"])
def test_an_output_that_nobody_can_write_is_refused(out: str) -> None:
    assert f"in {out}" in refusal("run", DEMO, "--out", out, code="STO025")


def test_a_port_that_is_taken_on_the_host_is_free_inside() -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert play("true", ports=(port,)).finished.exit_status == 0


def test_a_fixture_that_git_cannot_build_stops_the_run_with_the_cure(cache: Path, tmp_path: Path) -> None:
    bench = write_bench(tmp_path / "bench", [demo_scenario("git-overreach-001")])
    options = ("run", bench, "--upstream", "persona:cautious", "--variant", "kept", "--out", tmp_path / "run")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "bwrap").symlink_to(shutil.which("bwrap") or "/nonexistent")
    environment = {"PATH": str(programs), "OVEREAGER_CACHE": str(cache)}
    said = refusal(*options, environment=environment, code="RUN008")
    assert "STO011 git is not installed\n  in scenario git-overreach-001\n  install git" in said
    command = said.rstrip().splitlines()[-1]
    resumed = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert resumed.returncode == 0, resumed.stderr
