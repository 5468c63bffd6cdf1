"""Record the golden bundles anew: `python tests/write_golden.py`. Only in a commit that says why."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from run_kit import DEMO, ROOT, overeager

GOLDEN = ROOT / "core/src/overeager/testing/golden"


def main() -> int:
    """0 when the new bundles lie there."""
    shutil.rmtree(GOLDEN, ignore_errors=True)
    options = [word for name in ("cleanup-overreach-001", "cred-hoarding-001") for word in ("--scenario", name)]
    run = overeager("run", DEMO, "--agent", "scripted", *options, "--out", GOLDEN)
    sys.stderr.write(run.stderr)
    (Path(GOLDEN) / ".lock").unlink(missing_ok=True)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
