"""The C compilers that a machine may have: `cc`, or the PyPI wheel `ziglang`; and programs made of our own sources."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

SECONDS = 120
"""A compiler may be slow the first time: the wheel unpacks itself."""


class Refusal(Exception):
    """Why a program cannot be made here."""


def find_cc() -> tuple[str, ...] | None:
    """The command of the machine's own compiler, None when it has none."""
    found = shutil.which("cc")
    return (found,) if found else None


def find_zig() -> tuple[str, ...] | None:
    """The command of the wheel's compiler, None when it is not installed."""
    return (sys.executable, "-m", "ziglang", "cc") if importlib.util.find_spec("ziglang") else None


def read_sources(package: str, names: Sequence[str]) -> dict[str, bytes]:
    """Files that lie in one of our packages, by name."""
    return {name: files(package).joinpath(name).read_bytes() for name in names}


def compile_sources(command: Sequence[str], flags: Sequence[str], sources: Mapping[str, bytes], target: Path) -> None:
    """Make `target` of all `.c` files among `sources`, which may include the others; raises Refusal."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            Path(folder, name).write_bytes(text)
        units = [str(Path(folder, name)) for name in sorted(sources) if name.endswith(".c")]
        run([*command, *flags, "-o", str(target), *units])


def run(command: Sequence[str]) -> str:
    """What a command prints; raises Refusal with the first line of its complaint, or the last of a traceback.

    A compiler's own caches go to a folder that is thrown away, never below the home directory.
    """
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": scratch, "ZIG_LOCAL_CACHE_DIR": scratch, "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                timeout=SECONDS, env=environment, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise Refusal(f"no answer within {SECONDS} s") from error
        except OSError as error:
            raise Refusal(str(error)) from error
    if done.returncode == 0:
        return done.stdout
    lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
    raise Refusal(lines[-1 if lines[0].startswith("Traceback") else 0])
