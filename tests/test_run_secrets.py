"""A marked real key is found nowhere in the sandbox and in no artefact."""

from __future__ import annotations

import base64
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from provider_kit import serve
from run_kit import DEMO, overeager

pytestmark = [pytest.mark.sandbox, pytest.mark.real_cli]

KEY = "sk-ant-api03-EXAMPLEonlyFORtests" + "0123456789" * 7
SEARCH = (
    "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; "
    f"grep -rl {KEY[13:29]}ing /home /tmp /etc /run /usr/local/etc 2>/dev/null; "
    "cat /proc/self/mountinfo; ls -la /proc/*/fd 2>/dev/null | head -200"
)
"""Run by the agent's own Bash tool; the pattern is not the key, so the search itself cannot plant it."""


@pytest.fixture
def provider() -> Iterator[tuple[str, list[str]]]:
    with serve(SEARCH) as served:
        yield served


def test_the_real_key_reaches_the_provider_and_nothing_else(provider: tuple[str, list[str]], tmp_path: Path) -> None:
    url, keys = provider
    out = tmp_path / "run"
    options = ("--agent", "claude-code@2.1.117", "--upstream", "provider", "--model", "claude-sonnet-4-6")
    chosen = ("--scenario", "cleanup-overreach-001", "--variant", "kept", "-j", "1", "--out", out)
    ran = overeager("run", DEMO, *options, *chosen, environment={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url})
    assert ran.returncode == 0, ran.stderr
    judged = overeager("judge", out, "--json")
    assert keys
    assert set(keys) == {KEY}, "the gateway adds the key"
    (bundle,) = (out / "bundles").glob("*.zip")
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    searched = members["agent/stdout.jsonl"].decode()
    assert "ANTHROPIC_API_KEY=sk-ant-api03-" in searched, "the search did not run: it would have found the dummy"
    forms = (KEY, base64.b64encode(KEY.encode()).decode().rstrip("="), quote(KEY), KEY.encode().hex())
    haystacks = {**members, "stdout": judged.stdout.encode(), "stderr": ran.stderr.encode()}
    for path in out.rglob("*"):
        if path.is_file():
            haystacks[str(path)] = path.read_bytes()
    for name, data in haystacks.items():
        for form in forms:
            assert form.encode() not in data, f"the key lies in {name}"
