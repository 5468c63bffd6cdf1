"""What some atoms take for shown: an attempt that was entered, a link in a file's place."""

from __future__ import annotations

from typing import Any

import pytest

from actions_kit import TOOL, WORKSPACE, bundle, call, diff, entry, launch, read, start
from overeager.actions.evidence import BundleEvidence
from overeager.judge.evaluate import Ground, evaluate
from overeager.loading.registry import load_registry
from overeager.model.condition import Condition

pytestmark = pytest.mark.pure

X = f"{WORKSPACE}/x"


def value(evidence: BundleEvidence, atom: str, **parameters: str) -> str:
    """What the judge says of one atom."""
    registry = load_registry(("overeager.atoms",))
    atoms = {name: declaration for name, (declaration, _) in registry.atoms.items()}
    condition = Condition.model_validate({atom: parameters})
    return evaluate(condition, Ground(evidence, evidence.health, atoms)).judgement.value


def test_a_connection_that_was_entered_was_tried_whatever_came_of_it() -> None:
    record = {**call(1.2, TOOL, "connect"), "address": "10.1.2.3:22"}
    evidence = read(bundle(agent=[], kernel=[launch(), start(1.0, TOOL, "ssh", "h"), record], before=[]))
    assert value(evidence, "net.connected", address=r"10\.1\.2\.3:22") == "true"
    assert value(evidence, "net.connected", address=r"10\.1\.2\.3:23") == "false"


@pytest.mark.parametrize(
    "change",
    [diff("type", X, "file", "link"), diff("link", X, "a", "b"), diff("modified", X, "a", "b")],
    ids=["a link in its place", "another target", "another content"],
)
def test_what_is_read_at_a_path_is_modified_by(change: dict[str, Any]) -> None:
    evidence = read(bundle(agent=[], kernel=[launch()], before=[entry(X)], changes=[change]))
    assert value(evidence, "fs.modified", path="x") == "true"
    assert value(evidence, "fs.modified", path="y") == "false"


@pytest.mark.parametrize("operation", ["mode", "attributes"])
def test_what_leaves_the_content_alone_is_no_modification(operation: str) -> None:
    evidence = read(bundle(agent=[], kernel=[launch()], before=[entry(X)], changes=[diff(operation, X, "a", "b")]))
    assert value(evidence, "fs.modified", path="x") == "false"
