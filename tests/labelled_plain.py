"""Plays one case plainly and holds its truth against two listings and the case's own check; the standard library alone.

Runs as the first process of a bubblewrap of its own, with nothing of the product beside it:

    python3 labelled_plain.py CASE.json OUT          prints one line for each thing that is not as the case says
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import socketserver
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

HOME = Path("/home/user")
WORKSPACE = HOME / "project-x"
BEFORE = Path("/tmp/before")
PORT = 8080
LATE = 9.0
"""Seconds that children of the last step may take."""
_UNLISTED = re.compile(r"(^|/)\.git(/|$)|^/home/user/(remotes|\.npm|\.cache)(/|$)|\.db(-wal|-shm|-journal)?$")


class Entry(NamedTuple):
    """One path of a listing."""

    text: str
    """What is read there: a checksum; of a link to a folder, or to nothing, where it leads."""
    mode: int
    """Permission bits; 0 of a link, which has none."""


class Handler(socketserver.StreamRequestHandler):
    """Keeps every request whole and answers it with `ok`."""

    def handle(self) -> None:
        """One request a connection."""
        head, size = [self.rfile.readline()], 0
        while head[-1].strip():
            head.append(self.rfile.readline())
            name, _, value = head[-1].decode("latin-1").partition(":")
            size = int(value) if name.lower() == "content-length" else size
        chunked = any(line.lower().startswith(b"transfer-encoding: chunked") for line in head)
        body = self._chunks() if chunked else self.rfile.read(size)
        with (OUT / "requests").open("ab") as file:
            file.write(b"".join(head) + body + b"\n")
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        return body


OUT = Path(sys.argv[2]) if len(sys.argv) > 2 else Path()


def place(path: str) -> Path:
    """A path of a case, absolute."""
    return Path(os.path.normpath(WORKSPACE / (str(HOME) + path[1:] if path.startswith("~/") else path)))


def lay(fixture: dict[str, Any]) -> None:
    """The world of the case; a pid file names each process that its set-up starts."""
    WORKSPACE.mkdir(parents=True)
    os.chdir(WORKSPACE)
    for path, text in fixture.get("files", {}).items():
        place(path).parent.mkdir(parents=True, exist_ok=True)
        place(path).write_text(text)
        place(path).chmod(0o644)
    if fixture.get("sqlite"):
        with contextlib.closing(sqlite3.connect("app.db")) as connection:
            connection.executescript(fixture["sqlite"])
    if fixture.get("git"):
        run(["bash", "-e", "-c", fixture["git"]], Path(os.devnull))


def run(argv: list[str], output: Path, more: dict[str, str] | None = None) -> int:
    """A program with its output in a file; a child that it leaves behind holds nothing up."""
    with output.open("wb") as file:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False, cwd=WORKSPACE,
            env={**os.environ, **(more or {})}, start_new_session=True,
        )  # fmt: skip
    return done.returncode


def play(step: dict[str, Any], output: Path) -> int:
    """One step; its exit status."""
    if "shell" in step:
        return run(["bash", "-c", step["shell"]], output)
    if "fetch" in step:
        return run(["curl", "-sS", "-f", step["fetch"]], output)
    if "search" in step:
        return run(["grep", "-rn", "-e", step["search"]["pattern"], "--", step["search"].get("path", ".")], output)
    try:
        output.write_text(_tool(step))
    except (OSError, ValueError) as error:
        output.write_text(str(error))
        return 1
    return 0


def _tool(step: dict[str, Any]) -> str:
    if "read" in step:
        return place(step["read"]).read_text()
    if "say" in step or "ask" in step:
        with (OUT / "said").open("a") as file:
            file.write((step.get("say") or step.get("ask") or "") + "\n")
        return ""
    if "write" in step:
        place(step["write"]["path"]).parent.mkdir(parents=True, exist_ok=True)
        place(step["write"]["path"]).write_text(step["write"]["text"])
        return ""
    edit = step["edit"]
    text = place(edit["path"]).read_text()
    if text.count(edit["old"]) != 1:
        raise ValueError("the old text does not stand there once")
    place(edit["path"]).write_text(text.replace(edit["old"], edit["new"]))
    return ""


def take_listing() -> dict[str, Entry]:
    """Files and links of the home and of /tmp."""
    found = {}
    for top in (HOME, Path("/tmp")):
        for folder, names, files in os.walk(top):
            names[:] = [name for name in names if Path(folder, name) not in (BEFORE, OUT)]
            for name in [*files, *(name for name in names if Path(folder, name).is_symlink())]:
                path = Path(folder, name)
                if not _UNLISTED.search(str(path)) or (path.name == "app.db" and not path.stat().st_size):
                    found[str(path)] = Entry(_text(path), _mode(path))
    return found


def _text(path: Path) -> str:
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return f"-> {path.readlink()}" if path.is_symlink() else "special"


def _mode(path: Path) -> int:
    return 0 if path.is_symlink() else stat.S_IMODE(path.lstat().st_mode)


def compare(old: dict[str, Entry], new: dict[str, Entry]) -> dict[str, set[str]]:
    """The two listings in the words of the labels; a file that went and whose text is new elsewhere has moved."""
    gone, made = set(old) - set(new), set(new) - set(old)
    modified = {path for path in set(old) & set(new) if old[path].text != new[path].text}
    moved = {(a, b) for a in gone for b in made | modified if old[a].text == new[b].text}
    return {
        "deleted": gone - {a for a, _ in moved},
        "created": made - {b for _, b in moved},
        "modified": modified,
        "moved": {f"{a} -> {b}" for a, b in moved},
        "mode": {path for path in set(old) & set(new) if _differ(old[path].mode, new[path].mode)},
    }


def _differ(old: int, new: int) -> bool:
    return old != new and 0 not in (old, new)


def stated(truth: dict[str, Any]) -> dict[str, set[str]]:
    """What the case says."""
    said = {
        name: {str(place(path)) for path in truth.get(name, ())} for name in ("deleted", "created", "modified", "mode")
    }
    return {**said, "moved": {f"{place(a)} -> {place(b)}" for a, b in truth.get("moved", ())}}


def wait_for_children(before: set[str]) -> None:
    """Until nothing runs that did not before the first step, or for as long as children may take."""
    deadline = time.monotonic() + LATE
    while _running() - before and time.monotonic() < deadline:
        time.sleep(0.05)


def _running() -> set[str]:
    names = {path.name for path in Path("/proc").iterdir()} - {str(os.getpid())}
    return {name for name in names if name.isdigit() and _lives(name)}


def _lives(pid: str) -> bool:
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def main() -> None:
    """The case, from its world to what is not as it says."""
    case = json.loads(Path(sys.argv[1]).read_text())
    lay(case["fixture"])
    subprocess.run(["cp", "-a", str(HOME), str(BEFORE)], check=True)
    for name in ("requests", "said"):
        (OUT / name).touch()
    server = socketserver.ThreadingTCPServer(("127.0.0.1", PORT), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    old, running = take_listing(), _running()
    for number, step in enumerate(case["steps"], start=1):
        (OUT / f"status.{number}").write_text(str(play(step, OUT / f"output.{number}")))
    if not case.get("leaves"):
        wait_for_children(running)
    told = compare(old, take_listing())
    for name, paths in stated(case["truth"]).items():
        if told[name] != paths:
            print(f"{name}: missing {sorted(paths - told[name])} too many {sorted(told[name] - paths)}")
    checked = run(["bash", "-e", "-x", "-c", case["confirm"]], OUT / "check", {"BEFORE": str(BEFORE), "OUT": str(OUT)})
    if checked:
        print(f"confirm: {(OUT / 'check').read_text()[-400:]}")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
