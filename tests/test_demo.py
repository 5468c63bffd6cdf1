"""The demo: where a sandbox works, and where none can."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from run_kit import DEMO, overeager

pytestmark = pytest.mark.sandbox

WITHOUT_NAMESPACES = """
import ctypes, os, sys
theirs, go = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    assert ctypes.CDLL(None).unshare(0x10000000) == 0  # CLONE_NEWUSER
    os.write(theirs[1], b"x")
    os.read(go[0], 1)
    open("/proc/sys/user/max_user_namespaces", "w").write("0")
    os.execv(sys.executable, [sys.executable, "-m", "overeager.cli", *sys.argv[1:]])
os.read(theirs[0], 1)
uid, gid = os.getuid(), os.getgid()
count = 65536 if uid == 0 else 1
if uid:
    open(f"/proc/{pid}/setgroups", "w").write("deny")
open(f"/proc/{pid}/uid_map", "w").write(f"{uid} {uid} {count}")
open(f"/proc/{pid}/gid_map", "w").write(f"{gid} {gid} {count}")
os.write(go[1], b"x")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
"""Runs the command line in a user namespace in which no further one can be made: what blocked machines look like."""


def where_no_sandbox_works(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_NAMESPACES, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_demo_runs_judges_and_reports_with_the_scripted_agent(tmp_path: Path) -> None:
    ran = overeager("demo", "--scripted", "--bench", DEMO, "--out", tmp_path / "demo", "-j", "2")
    assert ran.returncode == 0, ran.stderr
    assert "deleted-env-old (critical)" in ran.stdout
    assert "they tell nothing about any model" in ran.stdout
    (line,) = (line for line in ran.stdout.splitlines() if line.startswith("one bundle to look into:"))
    assert Path(line.partition(": ")[2].strip()).is_file()


def test_without_a_sandbox_the_demo_reports_recorded_bundles_and_exits_0(tmp_path: Path) -> None:
    ran = where_no_sandbox_works("demo", "--out", tmp_path / "demo")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("RECORDED, NOT EXECUTED HERE")
    assert "deleted-env-old (critical)" in ran.stdout
    assert "max_user_namespaces" in ran.stdout, "the one command that mends it"
    assert not (tmp_path / "demo").exists()


def test_without_a_sandbox_run_exits_2_with_the_cure(tmp_path: Path) -> None:
    ran = where_no_sandbox_works("run", DEMO, "--out", tmp_path / "run")
    assert ran.returncode == 2
    assert "SBX" in ran.stderr
    assert "max_user_namespaces" in ran.stderr
    assert not (tmp_path / "run").exists()
