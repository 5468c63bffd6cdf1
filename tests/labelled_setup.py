"""The worlds of the labelled cases: laid, set up by their own shell text in a sandbox, and taken back as trees.

The set-up runs before a trial exists, so nothing of it stands in the trial's evidence. A case's secret marks become
the product's own canaries, and lengths that a step states of such a text grow with them.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from labelled_cases import HOME, MARK, WORKSPACE, Case
from overeager import canonical
from overeager.contract.effects import Identity
from overeager.model.stand_in import FixtureProcess, pids_of
from overeager.sandbox.locate import Bubblewrap
from overeager.store.fixture import canary
from overeager.store.removal import remove_tree
from overeager.store.tree import Node, Tree, grow, lay

FORMAT = 2
"""To be raised when the same case is to become another tree."""
PROJECT = "project-x"
SET_UP_TIME = 1_700_000_000
_LENGTH = re.compile(r"(?<=Content-Length: )\d+")
_ENVIRONMENT = {
    "HOME": HOME, "USER": "user", "PATH": "/usr/bin:/bin:/usr/sbin", "LANG": "C.UTF-8", "SHELL": "/bin/bash",
    "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip
QUIET_NPM = "update-notifier=false\naudit=false\nfund=false\n"
"""npm speaks to nobody: what the cases' own runs said by environment variables."""


def scenario_id(case: Case) -> str:
    """The case's id with what its world is made of, so that a world in the cache is never another text's."""
    world = case.fixture.model_dump(mode="json")
    return f"{case.id.lower()}-{canonical.digest([FORMAT, QUIET_NPM, world])[:8]}"


def canaries(case: Case) -> dict[str, str]:
    """The product's canary for each secret file, by the path as the fixture writes it."""
    return {path: canary(scenario_id(case), path) for path in case.secrets}


def speak(case: Case, text: str) -> str:
    """A text of the case with its marks, whole or their beginning, as canaries."""
    replaced = {case.secrets[path]: word for path, word in canaries(case).items()}
    longer = max((len(word) - len(mark) for mark, word in replaced.items()), default=0)

    def swap(found: re.Match[str]) -> str:
        return next((word for mark, word in replaced.items() if mark.startswith(found[0])), found[0])

    return _LENGTH.sub(lambda found: str(int(found[0]) + longer), MARK.sub(swap, text))


def processes(case: Case) -> tuple[FixtureProcess, ...]:
    """The case's processes in the product's words."""
    return tuple(
        FixtureProcess(name=name, command=words, pid_file=True) for name, words in case.fixture.processes.items()
    )


def build_world(case: Case, bubblewrap: Bubblewrap, identity: Identity) -> Tree:
    """The home of the case before its first step."""
    with tempfile.TemporaryDirectory(prefix="w", ignore_cleanup_errors=True) as scratch:
        home = Path(scratch) / "home"
        Path(scratch).chmod(0o755)
        home.mkdir()
        try:
            lay(_laid(case), home, identity)
            _own(home, identity)
            if case.fixture.sqlite:
                _make_database(home / PROJECT / "app.db", case.fixture.sqlite, identity)
            if case.fixture.git:
                _set_up(case, home, bubblewrap, identity)
            return _harvest(home)
        finally:
            remove_tree(home)


def _laid(case: Case) -> Tree:
    nodes = {PROJECT: Node(PROJECT, "directory", 0o755, SET_UP_TIME)}
    pids = pids_of(processes(case))
    pid_files = {f"run/{name}.pid": f"{pid}\n" for name, pid in pids.items()}
    for path, text in {"~/.npmrc": QUIET_NPM, **pid_files, **case.fixture.files}.items():
        place = path[2:] if path.startswith("~/") else f"{PROJECT}/{path}"
        nodes[place] = Node(place, "file", 0o644, SET_UP_TIME, speak(case, text).encode())
    return grow(nodes, 0o755, SET_UP_TIME)


def _own(path: Path, identity: Identity) -> None:
    if identity.drop:
        os.chown(path, identity.uid, identity.gid)


def _make_database(path: Path, text: str, identity: Identity) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(text)
        connection.commit()
    _own(path, identity)


def _set_up(case: Case, home: Path, bubblewrap: Bubblewrap, identity: Identity) -> None:
    """The case's shell text as an ordinary user in namespaces of its own, at the paths that the trial has."""
    arguments = [
        "--unshare-all", "--die-with-parent", "--new-session", "--uid", "1000", "--gid", "1000",
        "--ro-bind", "/usr", "/usr", *system_folders(), "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
        "--bind", str(home), HOME, "--chdir", WORKSPACE,
        "/usr/bin/bash", "-e", "-c", speak(case, case.fixture.script),
    ]  # fmt: skip
    drop = identity.drop
    done = subprocess.run(
        [str(bubblewrap.executable), *arguments],
        env=_ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        user=identity.uid if drop else None, group=identity.gid if drop else None, extra_groups=[] if drop else None,
    )  # fmt: skip
    assert done.returncode == 0, f"{case.id}: the set-up failed: {done.stdout}{done.stderr}"


def system_folders() -> Iterator[str]:
    """The machine's programs and libraries beside /usr, as they lie there."""
    for name in ("bin", "sbin", "lib", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _harvest(home: Path) -> Tree:
    """Everything below `home`; a file's second name stays one."""
    nodes: dict[str, Node] = {}
    names: dict[int, str] = {}
    for path in sorted(home.rglob("*")):
        node = _read_node(path, path.relative_to(home).as_posix(), names)
        nodes[node.path] = node
    return grow(nodes, 0o755, SET_UP_TIME)


def _read_node(path: Path, place: str, names: dict[int, str]) -> Node:
    status = path.lstat()
    mode, time = stat.S_IMODE(status.st_mode), int(status.st_mtime)
    if stat.S_ISLNK(status.st_mode):
        return Node(place, "link", 0, time, target=str(path.readlink()))
    if stat.S_ISDIR(status.st_mode):
        return Node(place, "directory", mode, time)
    assert stat.S_ISREG(status.st_mode), f"{place} is neither file, directory nor link"
    first = names.setdefault(status.st_ino, place)
    if first != place:
        return Node(place, "name", 0, time, target=first)
    return Node(place, "file", mode, time, path.read_bytes())
