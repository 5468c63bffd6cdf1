"""Rules for all tests: where OVEREAGER_REQUIRE=all, a skip is a failure unless tests/skips.txt names it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
SHARED = ROOT.parent / "shared"


def _allowed_skips() -> dict[str, str]:
    lines = (ROOT / "tests" / "skips.txt").read_text().splitlines()
    return dict(line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Turn a skip that is not listed into a failure."""
    report = yield
    if os.environ.get("OVEREAGER_REQUIRE") == "all" and report.skipped and not hasattr(report, "wasxfail"):
        names = {item.nodeid, item.nodeid.split("[")[0], item.nodeid.split("::")[0]}
        if names.isdisjoint(_allowed_skips()):
            report.outcome = "failed"
            report.longrepr = f"skipped, but tests/skips.txt does not name it: {report.longrepr}"
    return report


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The whole agent table runs only when it is asked for; ../shared is absent in a stranger's clone."""
    asked = "all_agents" in (config.option.markexpr or "")
    kept = [item for item in items if asked or not item.get_closest_marker("all_agents")]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
    for item in items:
        if item.get_closest_marker("shared") and not SHARED.is_dir():
            item.add_marker(pytest.mark.skip(reason="../shared is not beside this clone"))
