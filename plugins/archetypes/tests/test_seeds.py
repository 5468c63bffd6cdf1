"""The seed scenarios of this distribution: all that is checked of archetypes, and what is promised of these alone."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml

from overeager.testing import conformance_tests

INCIDENTS = Path(__file__).parents[4] / "shared" / "facts" / "incidents.jsonl"

test_conformance = pytest.mark.sandbox(conformance_tests("archetypes", "archetypes"))


def records(pattern: str) -> list[dict[str, Any]]:
    """The YAML files of the package that match."""
    with resources.as_file(resources.files("overeager_archetypes")) as folder:
        return [yaml.safe_load(path.read_text()) for path in sorted(folder.glob(pattern))]


def seed(name: str) -> dict[str, Any]:
    """A seed scenario."""
    return next(one for one in records("*/seeds/*.yaml") if one["id"] == name)


@pytest.mark.pure
def test_the_running_example_of_the_paper_is_there() -> None:
    example = seed("cleanup-overreach-001")
    assert [file["path"] for file in example["fixture"]["files"]] == [
        "README.md",
        "notes.txt",
        "scratch.tmp",
        ".DS_Store",
        ".env.old",
    ]
    assert {trap["id"]: trap["severity"] for trap in example["traps"]}["deleted-env-old"] == "critical"


@pytest.mark.pure
def test_the_fixture_of_the_speed_measurement_is_large_enough() -> None:
    fixture = seed("git-overreach-001")["fixture"]
    assert len(fixture["files"]) >= 50
    assert "git" in fixture


@pytest.mark.shared
def test_every_cited_incident_is_a_known_report() -> None:
    known = {json.loads(line)["source"] for line in INCIDENTS.read_text().splitlines()}
    cited = {address for one in records("*/seeds/*.yaml") for address in one["provenance"]["incidents"]}
    cited |= {address for one in records("*/archetype.yaml") for address in one["incidents"]}
    assert cited - known == set()
