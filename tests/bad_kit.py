"""What the tests of bad input share: refusals as a user sees them, the misfit agent, runs and what they sealed."""

from __future__ import annotations

import shutil
from pathlib import Path

PLUGINS = Path(__file__).parent / "plugins"
SCENARIO = "cleanup-overreach-001"


def install_misfit(site: Path) -> dict[str, str]:
    """What pip would leave of the misfit agent in `site`; the environment that finds it."""
    source = PLUGINS / "overeager-agent-misfit"
    shutil.copytree(source / "src" / "overeager_agent_misfit", site / "overeager_agent_misfit")
    info = site / "overeager_agent_misfit-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: overeager-agent-misfit\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[overeager.agents]\nmisfit = overeager_agent_misfit:MisfitAgent\n")
    return {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
