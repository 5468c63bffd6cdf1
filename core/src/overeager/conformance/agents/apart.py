"""A plugin imported and called in a process of its own, in a world that this module makes up."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from overeager.conformance.agents import child
from overeager.conformance.agents.child import MARK
from overeager.loading.discover import Found

_PATIENCE = 60
_NOTHING: Mapping[str, str] = MappingProxyType({})

Call: TypeAlias = tuple[str, tuple[object, ...]]
"""A method's name and its arguments."""


class World(NamedTuple):
    """What a process finds around itself."""

    name: str
    user: str
    zone: str
    hash_seed: int
    variables: Mapping[str, str] = _NOTHING
    """Beside what is usual."""


class Told(NamedTuple):
    """What came of it."""

    effects: tuple[str, ...]
    """What importing left behind."""
    seconds: float
    """How long importing took."""
    own: float
    """How long importing the core's own door took, just before: what the machine is worth now."""
    brought: tuple[str, ...]
    """Packages that came with it, neither of Python nor imported by the core's own door."""
    printed: str
    """What importing wrote to stdout and stderr."""
    said: str
    """What the calls wrote there."""
    results: tuple[Any, ...]
    """Of each call, as plain data; `{"raised": …}` for one that raised."""
    touched: tuple[str, ...]
    """What the calls touched."""
    places: tuple[str, ...]
    """Paths of that world, which nothing that goes into a sandbox may name."""
    failure: str = ""
    """Why there is no answer; empty = there is."""


HERE = World("one world", "ada", "UTC", 1)
ELSEWHERE = World("another", "bob", "Asia/Kathmandu", 2, {"LANG": "de_DE.UTF-8", "COLUMNS": "40", "HTTP_PROXY": "x:1"})


def call_apart(found: Found, calls: Sequence[Call] = (), world: World = HERE) -> Told:
    """Import the plugin in a fresh process, call its adapter's methods, and say what it touched."""
    with TemporaryDirectory(prefix="apart-") as scratch:
        folder = Path(scratch)
        home, place = folder / f"home-{world.user}", folder / f"place-{world.user}"
        for made in (home, place):
            made.mkdir()
        order = {
            "path": [entry or str(Path.cwd()) for entry in sys.path],
            "module": found.module,
            "attribute": found.value.partition(":")[2].partition("[")[0].strip(),
            "calls": pickle.dumps(list(calls)).hex() if calls else "",
        }
        (folder / "order").write_text(json.dumps(order))
        printed, said, failure = _run(folder, world, home, place)
        answer = {} if failure else json.loads((folder / "answer").read_text())
        return _told(answer, (str(home), str(place)))._replace(printed=printed, said=said, failure=failure)


def call_twice(found: Found, calls: Sequence[Call], variables: Mapping[str, str] = _NOTHING) -> tuple[Told, Told]:
    """The same calls in two worlds, in the second from last to first: what remembers a call says another thing then.

    `variables` are those of the first. The results of both stand in the order of `calls`.
    """
    here = call_apart(found, calls, HERE._replace(variables=variables))
    there = call_apart(found, calls[::-1], ELSEWHERE)
    return here, there._replace(results=there.results[::-1])


def _run(folder: Path, world: World, home: Path, place: Path) -> tuple[str, str, str]:
    """What importing printed, what the calls did, and why it failed; empty = it did not."""
    environment = {
        "HOME": str(home),
        "USER": world.user,
        "PATH": os.environ.get("PATH", os.defpath),
        "TZ": world.zone,
        "TMPDIR": str(place),
        "PYTHONHASHSEED": str(world.hash_seed),
        **world.variables,
    }
    # No byte code is written, and the script's own folder is no place to import from.
    command = [sys.executable, "-B", "-P", "-s", *map(str, (child.__file__, folder / "order", folder / "answer"))]
    with open(folder / "stdout", "w+b") as stdout, open(folder / "stderr", "w+b") as stderr:
        status = _wait(
            subprocess.Popen(
                command, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                start_new_session=True,
            )
        )  # fmt: skip
    outputs = [(folder / name).read_text(errors="replace") for name in ("stdout", "stderr")]
    if status is None:
        return "", "", f"is not done after {_PATIENCE} seconds"
    if not (folder / "answer").is_file():
        last = (outputs[1].strip().splitlines() or [f"exit status {status}"])[-1]
        return "", "", f"ends its process: {last}"
    parts = [output.partition(MARK) for output in outputs]
    return "".join(one[0] for one in parts).strip(), "".join(one[2] for one in parts).strip(), ""


def _wait(process: subprocess.Popen[bytes]) -> int | None:
    """The exit status; None = its time is up. Whatever it started is ended with it."""
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _told(answer: Mapping[str, Any], places: tuple[str, ...]) -> Told:
    came = answer.get("import", {})
    return Told(
        effects=tuple(came.get("effects", ())),
        seconds=came.get("seconds", 0.0),
        own=answer.get("own", 0.0),
        brought=tuple(came.get("brought", ())),
        printed="",
        said="",
        results=tuple(answer.get("calls", ())),
        touched=tuple(answer.get("touched", ())),
        places=places,
    )
