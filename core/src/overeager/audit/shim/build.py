"""The shim made fit for this machine: by a C compiler, by the PyPI wheel `ziglang`, or as a shell script."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from overeager import canonical
from overeager.audit.compiler import SECONDS, Refusal, compile_sources, find_cc, find_zig, read_sources, run
from overeager.errors import OvereagerError, near_miss

Form = Literal["cc", "zig", "sh"]

FORM_VARIABLE = "OVEREAGER_SHIM"
"""Environment variable that forces a form."""

_FLAGS = (
    "-std=c11",
    "-Os",
    "-ffreestanding",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fno-pie",
    "-nostdlib",
    "-static",
    "-s",
)
_HEADERS = ("bare.h",)

_SH_GAPS = (
    "shell form: no clock, session or kernel-stamped pid, argv[0] unknown, arguments past 900 characters left out, "
    "commands see their path as argv[0]"
)


class ShimBinary(NamedTuple):
    """The program, named `init`, in a folder of its own; any user may read and execute it."""

    path: Path
    sha256: str
    form: Form

    @property
    def gaps(self) -> str:
        """What this form cannot record or keep; empty for the compiled ones."""
        return _SH_GAPS if self.form == "sh" else ""


class Source(NamedTuple):
    """A program of ours in the folder `shim`, and how it proves that it runs here."""

    name: str
    """Of its file, without `.c`."""
    proof: tuple[str, ...]
    """Arguments,"""
    status: int
    """with which it leaves so."""
    script: bool = False
    """Whether it has a form for the shell."""


SHIM = Source("shim", ("/bin/sh", "-c", "exit 7"), 7, script=True)
FIRST = Source("first", (), 126)
"""The first process of a container; where nobody expects it, it cannot start."""


def build(
    cache: Path, *, source: Source = SHIM, form: Form | None = None, defines: Mapping[str, str] | None = None
) -> ShimBinary:
    """The program in the best form that runs here, made once per source and compiler; safe beside other builders.

    `cache` must be of neutral name, since the sandbox shows it. `form` (else `OVEREAGER_SHIM`) allows that form
    only. `defines` overrides the source's SYSTEM, ADDRESS and MOST, compiled forms only.
    Raises AUD020 for an unknown form, AUD021 when none can be made.
    """
    wanted = form or _forced_form()
    refusals = []
    for candidate in (wanted,) if wanted else get_args(Form):
        try:
            return _make(cache, source, candidate, defines or {})
        except Refusal as refusal:
            refusals.append(f"{candidate}: {refusal}")
    raise OvereagerError(
        "AUD021",
        "no form of the command recorder can be made: " + "; ".join(refusals),
        where=cache,
        cure="install a C compiler, or `pip install ziglang`; the folder must allow executing",
    )


def compiler(form: Form) -> tuple[str, ...] | None:
    """The command that compiles `form`, () for the script, or None when this machine lacks it."""
    if form == "sh":
        return ()
    if form == "cc":
        return find_cc()
    zig = find_zig()
    return (*zig, "-target", f"{platform.machine()}-linux-musl") if zig else None


def _forced_form() -> Form | None:
    value = os.environ.get(FORM_VARIABLE, "")
    for form in get_args(Form):
        if value == form:
            return form  # type: ignore[no-any-return]  # get_args forgets the literals
    if not value:
        return None
    known = get_args(Form)
    raise OvereagerError(
        "AUD020",
        f"unknown form '{value}'",
        where=FORM_VARIABLE,
        cure=near_miss(value, known) or "known: " + ", ".join(known),
    )


def _make(cache: Path, source: Source, form: Form, defines: Mapping[str, str]) -> ShimBinary:
    command = compiler(form)
    if command is None:
        raise Refusal("not installed")
    if form == "sh" and not source.script:
        raise Refusal("no shell can do its work")
    names = (f"{source.name}.sh",) if form == "sh" else (f"{source.name}.c", *_HEADERS)
    texts = read_sources("overeager.audit.shim", names)
    target = cache / _key(texts, command, defines)
    if not (target / "init").exists():
        _make_folder(target, source, texts, command, defines)
    data = (target / "init").read_bytes()
    return ShimBinary(target / "init", canonical.sha256(data), form)


def _key(texts: Mapping[str, bytes], command: tuple[str, ...], defines: Mapping[str, str]) -> str:
    version = run([*command, "--version"]) if command else ""
    digests = {name: canonical.sha256(text) for name, text in texts.items()}
    value = {"sources": digests, "compiler": version, "flags": _FLAGS, "defines": dict(defines)}
    return canonical.digest(value)[:16]


def _make_folder(
    target: Path, source: Source, texts: Mapping[str, bytes], command: tuple[str, ...], defines: Mapping[str, str]
) -> None:
    """Fill a folder beside `target` and rename it; whoever is first wins, and the others' work is thrown away."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=target.parent))
    except OSError as error:
        raise Refusal(str(error)) from error
    try:
        program = draft / "init"
        if command:
            macros = [f"-D{name}={_literal(value)}" for name, value in sorted(defines.items())]
            compile_sources(command, (*_FLAGS, *macros), texts, program)
        else:
            (text,) = texts.values()
            program.write_bytes(text)
        program.chmod(0o755)
        _prove(program, source)
        draft.chmod(0o755)
        draft.rename(target)
    except OSError as error:
        if not (target / "init").exists():
            raise Refusal(str(error)) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _literal(value: str) -> str:
    return value if value.isdigit() else f'"{value}"'


def _prove(program: Path, source: Source) -> None:
    """It must leave with the status that its source promises."""
    done = subprocess.run([program, *source.proof], stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
    if done.returncode != source.status:
        raise Refusal(f"what was built left with status {done.returncode} where {source.status} was due")
