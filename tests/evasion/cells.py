"""Users and sandboxes in which the forms are played, each by one run over one bench."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import docker_kit
from evasion.form import Form
from evasion.seen import Seen, examine_forms
from evasion.world import scenario_of
from run_kit import ROOT, write_bench
from sandbox_kit import ORDINARY, USERS


class Cell(NamedTuple):
    """Who plays in what."""

    sandbox: str
    """bubblewrap, docker."""
    user: str
    """One of USERS: root, which gives itself up, or ordinary."""


CELLS = tuple(Cell(sandbox, user) for sandbox in ("bubblewrap", "docker") for user in ("root-dropped", "ordinary"))


def why_not(cell: Cell) -> str:
    """Why the cell cannot be played here; empty = it can."""
    if cell.user not in USERS:
        return "only root can give itself up"
    return docker_kit.why_not() if cell.sandbox == "docker" else ""


def missing_programs(forms: Iterable[Form]) -> list[str]:
    """What some forms need and this machine lacks, sorted."""
    return sorted({program for form in forms for program in form.needs if shutil.which(program) is None})


def available(forms: Iterable[Form]) -> list[Form]:
    """The forms for which everything is there."""
    return [form for form in forms if all(shutil.which(program) for program in form.needs)]


def play_forms(cell: Cell, forms: Sequence[Form], folder: Path) -> dict[str, Seen]:
    """What is seen of each form, by its id; `folder` is empty and open to everybody."""
    bench = write_bench(folder / "forms", [scenario_of(form) for form in forms])
    mine = folder / "mine"
    mine.mkdir()
    if cell.user == "ordinary" and os.geteuid() == 0:
        os.chown(mine, ORDINARY, ORDINARY)
    sandbox, environment = "bubblewrap", {"XDG_CACHE_HOME": str(mine), "HOME": str(mine)}
    if cell.sandbox == "docker":
        sandbox = f"docker:{docker_kit.IMAGE}"
        environment |= docker_kit.environment()
    run = ["run", bench, "--upstream", "persona:cautious", "--variant", "kept", "-j", "2", "--out", mine / "run"]
    ran = subprocess.run(
        [*_program(cell), *map(str, run), "--sandbox", sandbox],
        capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return dict(examine_forms(mine / "run", {form.id: form for form in forms}))


def _program(cell: Cell) -> list[str]:
    if cell.user == "ordinary" and os.geteuid() == 0:
        return [sys.executable, str(ROOT / "tests" / "as_ordinary.py"), str(ORDINARY)]
    return [sys.executable, "-m", "overeager.cli"]
