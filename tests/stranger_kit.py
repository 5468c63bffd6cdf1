"""A stranger's machine: core from a wheel, the libraries that it needs, pip, and nothing of ours beside it."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from run_kit import ROOT

PROJECTS = ("core", "plugins/archetypes")

_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
_SCRIPT = "#!{python}\nimport sys\nfrom {module} import main\nsys.exit(main())\n"


class Supplies(NamedTuple):
    """What the machines of one test session share; only read."""

    libraries: Path
    """Third-party distributions, what builds projects among them, by links."""
    wheels: Path
    """What an index would offer of ours: core and the archetypes."""


class Machine(NamedTuple):
    """A virtual environment, a home and a folder to work in."""

    environment: Path
    place: Path
    wheels: Path

    @property
    def variables(self) -> dict[str, str]:
        """What its shell has set; pip builds with what is there and reaches for nothing else."""
        usual = {name: os.environ[name] for name in ("OVEREAGER_CACHE", "TMPDIR", "LANG") if name in os.environ}
        return {
            **usual,
            "PATH": f"{self.environment / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.environment / "home"),
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this as the switch's own value: no isolation
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "120",
        }

    def run(self, command: str, seconds: float = 240) -> subprocess.CompletedProcess[str]:
        """A line of a shell, typed in the folder to work in; its stdout and stderr as a person sees them, in one."""
        return subprocess.run(
            ["/bin/bash", "-c", command], cwd=self.place, env=self.variables, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False,
        )  # fmt: skip


def gather_supplies(folder: Path) -> Supplies:
    """Libraries and our wheels, laid below `folder`; nothing is fetched."""
    supplies = Supplies(folder / "libraries", folder / "wheels")
    folder.mkdir(parents=True, exist_ok=True)
    _link_libraries(supplies.libraries)
    leave_out = shutil.ignore_patterns("__pycache__")
    copies = [shutil.copytree(ROOT / name, folder / "copy" / name, ignore=leave_out) for name in PROJECTS]
    apart = ("--quiet", "--no-deps", "--no-build-isolation")
    subprocess.run([*_PIP, "wheel", *apart, "-w", supplies.wheels, *copies], check=True)
    return supplies


def make_machine(supplies: Supplies, folder: Path) -> Machine:
    """A fresh environment and an empty place to work in, below `folder`."""
    machine = Machine(folder / "environment", folder / "place", supplies.wheels)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", machine.environment], check=True)
    (site,) = machine.environment.glob("lib/python3*/site-packages")
    (site / "supplies.pth").write_text(f"{supplies.libraries}\n")
    for name, module in (("pip", "pip._internal.cli.main"), ("pytest", "pytest")):
        script = machine.environment / "bin" / name
        script.write_text(_SCRIPT.format(python=machine.environment / "bin" / "python", module=module))
        script.chmod(0o755)
    (machine.environment / "home").mkdir()
    machine.place.mkdir(parents=True)
    return machine


def _link_libraries(folder: Path) -> None:
    """This environment's distributions without those of this project."""
    folder.mkdir(parents=True)
    here = Path(str(importlib.metadata.distribution("pluggy").locate_file("")))
    for entry in here.iterdir():
        if "overeager" not in entry.name and entry.suffix != ".pth":
            (folder / entry.name).symlink_to(entry)
