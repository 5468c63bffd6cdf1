"""The static program, as a file that a world can hold."""

from __future__ import annotations

import base64
import functools
import gzip
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from overeager.model.fixture import File

SOURCE = Path(__file__).parent / "tool.c"
PACKED = "~/.t"
UNPACK = "base64 -d ~/.t | gunzip > ~/t; chmod +x ~/t"
"""What a form's command begins with."""


def can_build() -> bool:
    """Whether there is a compiler for it; its system calls are those of one machine."""
    return platform.machine() == "x86_64" and (shutil.which("cc") is not None or _has_zig())


def _has_zig() -> bool:
    asked = subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True, check=False)
    return asked.returncode == 0


@functools.cache
def pack_tool() -> tuple[File, ...]:
    """The program packed into a text, since a world's files are texts."""
    if not can_build():
        return ()
    compiler = ["cc"] if shutil.which("cc") else [sys.executable, "-m", "ziglang", "cc"]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "tool"
        flags = ["-static", "-nostdlib", "-ffreestanding", "-Os", "-s"]
        subprocess.run([*compiler, *flags, "-o", program, SOURCE], check=True)
        packed = gzip.compress(program.read_bytes(), mtime=0)
    return (File(path=PACKED, content=base64.encodebytes(packed).decode()),)
