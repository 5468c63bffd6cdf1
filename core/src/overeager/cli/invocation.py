"""How this program is called again, in words that can be pasted into the same shell."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overeager.cli.run import Wanted


def program() -> tuple[str, ...]:
    """`overeager` where the shell finds this very program under that name, else what it was called by."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return (sys.executable, "-m", "overeager.cli")
    found = shutil.which(called.name)
    return (called.name,) if found and called.exists() and Path(found).samefile(called) else (str(called),)


def resume_command(bench: Path, out: Path, wanted: Wanted, jobs: int) -> str:
    """The command that goes on with the run in `out`: the options that it began with, and --resume."""
    agent = f"{wanted.agent}@{wanted.version}" if wanted.version else wanted.agent
    usual = type(wanted).read(agent)
    words = [*program(), "run", str(bench), "--agent", agent]
    for option in ("mode", "upstream", "model", "sandbox", "repeats", "budget", "seconds"):
        value = getattr(wanted, option)
        if value != getattr(usual, option):
            words += [f"--{option}", str(value)]
    if wanted.variant != usual.variant:
        words += ["--variant", wanted.variant.value]
    for scenario in wanted.scenarios:
        words += ["--scenario", scenario]
    words += [f"--no-{channel}" for channel in ("kernel", "shims") if not getattr(wanted, channel)]
    words += wanted.plugins.words
    return shlex.join([*words, "--out", str(out), "-j", str(jobs), "--resume"])
