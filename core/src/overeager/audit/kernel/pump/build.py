"""The compiled loop of the kernel channel, made fit for this machine and proved before any trial relies on it."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from overeager import canonical
from overeager.audit.compiler import Refusal, compile_sources, find_cc, find_zig, read_sources, run

Form = Literal["cc", "zig"]

FORM_VARIABLE = "OVEREAGER_KERNEL"
"""`python` forces the form that needs no compiler, `cc` or `zig` that compiler."""

FLAGS = (
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fstack-protector-strong",
    "-D_FORTIFY_SOURCE=2",
)
_SOURCES = (
    "path.c", "path.h", "process.c", "process.h", "pump.c", "state.h", "tell.c", "tell.h", "text.c", "text.h",
)  # fmt: skip


class PumpBuild(NamedTuple):
    """What came of building."""

    path: Path | None
    """The shared object; None = the channel takes its Python form,"""
    form: str
    """`cc`, `zig` or `python`."""
    reason: str = ""
    """why."""


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
        except (Refusal, OSError) as refusal:
            refusals.append(f"{form}: {refusal}")
    return PumpBuild(None, "python", "; ".join(refusals) or f"unknown form '{wanted}'")


def compiler(form: Form) -> tuple[str, ...] | None:
    """The command that compiles `form`, or None when this machine lacks it."""
    return find_cc() if form == "cc" else find_zig()


def sources() -> dict[str, bytes]:
    """The texts of the program, by name."""
    return read_sources("overeager.audit.kernel.pump", _SOURCES)


def _make(cache: Path, form: Form) -> Path:
    command = compiler(form)
    if command is None:
        raise Refusal("not installed")
    texts = sources()
    digests = {name: canonical.sha256(text) for name, text in texts.items()}
    made_of = {"sources": digests, "compiler": run([*command, "--version"]), "flags": FLAGS}
    target = cache / f"k{canonical.digest(made_of)[:16]}.so"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            draft = Path(folder) / "text.so"
            compile_sources(command, FLAGS, texts, draft)
            run([sys.executable, "-m", "overeager.audit.auditor.pump_proof", str(draft)])
            draft.chmod(0o755)
            draft.rename(target)
    return target
