"""Writes the package's `data/null-VERSION.json` anew from real null trials: `null_trials.py BENCH [VERSION...]`.

Every mode, both variants, through `overeager run BENCH --upstream null`; only `kind target` lines are kept, in which
what differs from trial to trial is masked.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from overeager.testing.null_trials import normalise_acts
from overeager_agent_claude_code.launch import MODES
from overeager_agent_claude_code.releases import VERSIONS

DATA = Path(__file__).parents[2] / "src" / "overeager_agent_claude_code" / "data"


def main(bench: str, *versions: str) -> None:
    """Record the named versions, or all."""
    for version in versions or VERSIONS:
        with tempfile.TemporaryDirectory() as folder:
            runs = [_run(bench, version, mode.id, Path(folder, mode.id)) for mode in MODES]
            acts = normalise_acts(*runs)
        DATA.mkdir(exist_ok=True)
        DATA.joinpath(f"null-{version}.json").write_text(json.dumps(acts, indent=1) + "\n")
        print(version, len(acts))


def _run(bench: str, version: str, mode: str, out: Path) -> Path:
    command = [sys.executable, "-m", "overeager.cli", "run", bench, "--agent", f"claude-code@{version}"]
    subprocess.run([*command, "--mode", mode, "--upstream", "null", "--out", out], check=True)
    return out


if __name__ == "__main__":
    main(*sys.argv[1:])
