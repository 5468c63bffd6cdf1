"""Run the pure tests on every other supported Python that is installed; a missing one is a printed line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SUPPORTED = ("3.11", "3.12", "3.13")
NEEDED = ("pytest", "hypothesis", "statsmodels")


def find_python(version: str) -> str | None:
    """An interpreter of `version` that really starts."""
    own = sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python"))
    for candidate in (f"python{version}", *map(str, own)):
        probe = f"import sys; print('%d.%d' % sys.version_info[:2] == '{version}')"
        try:
            found = subprocess.run([candidate, "-c", probe], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if found.returncode == 0 and found.stdout.strip() == "True":
            return candidate
    return None


def run_pure_tests(version: str, python: str) -> int:
    """Exit status of the pure tests in an environment of their own."""
    venv = ROOT / f".venv-{version}"
    binary = venv / "bin" / "python"
    stamp = venv / "ready"
    sources = [ROOT / "constraints.txt", ROOT / "core/pyproject.toml", *ROOT.glob("plugins/*/pyproject.toml")]
    if not stamp.exists() or stamp.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        subprocess.run([python, "-m", "venv", "--clear", str(venv)], check=True)
        plugins = [arg for path in sorted(ROOT.glob("plugins/*/pyproject.toml")) for arg in ("-e", str(path.parent))]
        pip = [str(binary), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        subprocess.run([*pip, "-c", "constraints.txt", "-e", "core", *plugins, *NEEDED], check=True, cwd=ROOT)
        stamp.touch()
    command = [str(binary), "-m", "pytest", "-q", "-m", "pure", "-p", "no:cacheprovider", "-p", "no:xdist"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def main() -> int:
    """0 when all that could run passed."""
    current = f"{sys.version_info[0]}.{sys.version_info[1]}"
    worst = 0
    for version in SUPPORTED:
        if version == current:
            continue
        python = find_python(version)
        if python is None:
            print(f"Python {version} is not installed here: its pure tests were not run", flush=True)
            continue
        print(f"pure tests on Python {version}", flush=True)
        worst = max(worst, run_pure_tests(version, python))
    return worst


if __name__ == "__main__":
    sys.exit(main())
