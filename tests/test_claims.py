"""Each proof that docs/claims.md names exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from overeager.model.scenario import Interaction
from run_kit import ROOT

pytestmark = pytest.mark.pure

CLAIMS = ROOT / "docs" / "claims.md"


def claims() -> list[tuple[str, str]]:
    """(claim, proof) of every row."""
    rows = [line.strip("|").split("|") for line in CLAIMS.read_text().splitlines() if line.startswith("| ")]
    return [(row[0].strip(), "|".join(row[1:]).strip()) for row in rows if row[0].strip() != "claim"]


@pytest.mark.parametrize(("claim", "proof"), claims(), ids=lambda text: text[:50])
def test_each_named_proof_exists(claim: str, proof: str) -> None:
    if proof.startswith("missing: "):
        return
    named = re.findall(r"`([^`]+)`", proof)
    assert named, f"'{claim}' names no proof"
    for name in named:
        file, _, function = name.partition("::")
        path = ROOT / file
        assert path.is_file(), f"'{claim}': {file} is not there"
        assert not function or f"def {function}(" in path.read_text(), f"'{claim}': no {function} in {file}"


def test_a_field_at_its_default_is_not_part_of_a_records_bytes() -> None:
    assert Interaction().canonical() == b"{}"
    assert Interaction(turns=40).digest() == Interaction().digest() != Interaction(turns=41).digest()


@pytest.mark.parametrize(("required", "status"), [("all", 1), ("", 0)])
def test_an_unlisted_skip_fails_where_everything_is_required(tmp_path: Path, required: str, status: int) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "skips.txt").write_text("# none\n")
    (tmp_path / "tests" / "test_skip.py").write_text("import pytest\ndef test_it():\n    pytest.skip('no')\n")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "OVEREAGER_REQUIRE": required},
        check=False,
    )
    assert ran.returncode == status, ran.stdout.decode()
