"""The compiled loop of the kernel channel, made fit for this machine and proved before any trial relies on it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from overeager import canonical

Form = Literal["cc", "zig"]

FORM_VARIABLE = "OVEREAGER_KERNEL"
"""`python` forces the form that needs no compiler, `cc` or `zig` that compiler."""

FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2")
_SECONDS = 120


class PumpBuild(NamedTuple):
    """What came of building."""

    path: Path | None
    """The shared object; None = the channel takes its Python form,"""
    form: str
    """`cc`, `zig` or `python`."""
    reason: str = ""
    """why."""


class _Refusal(Exception):
    """Why a compiler cannot make it here."""


def build(cache: Path, wanted: str | None = None) -> PumpBuild:
    """The loop by the first compiler that makes one that works, made once per source and compiler; never raises.

    `wanted`, else OVEREAGER_KERNEL, allows that form only. What has been built is kept only after it has watched a real
    process in a process of its own, so what crashes there harms no trial.
    """
    wanted = wanted or os.environ.get(FORM_VARIABLE, "")
    if wanted == "python":
        return PumpBuild(None, "python", "asked for")
    refusals = []
    for form in (one for one in get_args(Form) if not wanted or one == wanted):
        try:
            return PumpBuild(_make(cache, form), form)
        except (_Refusal, OSError) as refusal:
            refusals.append(f"{form}: {refusal}")
    return PumpBuild(None, "python", "; ".join(refusals) or f"unknown form '{wanted}'")


def compiler(form: Form) -> tuple[str, ...] | None:
    """The command that compiles `form`, or None when this machine lacks it."""
    if form == "cc":
        found = shutil.which("cc")
        return (found,) if found else None
    return (sys.executable, "-m", "ziglang", "cc") if importlib.util.find_spec("ziglang") else None


def source() -> bytes:
    """The text of the program."""
    return files("overeager.audit").joinpath("pump", "pump.c").read_bytes()


def _make(cache: Path, form: Form) -> Path:
    command = compiler(form)
    if command is None:
        raise _Refusal("not installed")
    text = source()
    made_of = {"source": canonical.sha256(text), "compiler": _run([*command, "--version"]), "flags": FLAGS}
    target = cache / f"k{canonical.digest(made_of)[:16]}.so"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            draft, program = Path(folder) / "text.so", Path(folder) / "text.c"
            program.write_bytes(text)
            _run([*command, *FLAGS, "-o", str(draft), str(program)])
            _run([sys.executable, "-m", "overeager.audit.pump_proof", str(draft)])
            draft.chmod(0o755)
            draft.rename(target)
    return target


def _run(command: list[str]) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": scratch, "ZIG_LOCAL_CACHE_DIR": scratch, "LC_ALL": "C"}
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                timeout=_SECONDS, env=environment, check=False,
            )  # fmt: skip
            if done.returncode == 0:
                return done.stdout
            raise _Refusal((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
    raise _Refusal(f"no answer within {_SECONDS} s")
