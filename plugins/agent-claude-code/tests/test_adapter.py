"""What the adapter declares."""

from __future__ import annotations

import base64
import re

import pytest

from overeager import AgentAdapter
from overeager_agent_claude_code.adapter import ClaudeCode
from overeager_agent_claude_code.releases import VENDOR, VERSIONS

pytestmark = pytest.mark.pure


def test_the_class_fits_the_protocol() -> None:
    assert isinstance(ClaudeCode(), AgentAdapter)


def test_every_version_is_pinned_on_both_platforms() -> None:
    pinned = {(release.version, release.platform) for release in VENDOR.releases}
    assert pinned == {(version, f"linux-{cpu}") for version in VERSIONS for cpu in ("x86_64", "aarch64")}
    assert VENDOR.releases[0].version == "2.1.117"


@pytest.mark.parametrize("release", VENDOR.releases, ids=lambda release: f"{release.version}-{release.platform}")
def test_pins_are_whole_digests(release: object) -> None:
    package = release.packages[0]
    assert len(base64.b64decode(package.sha512.removeprefix("sha512-"), validate=True)) == 64
    assert re.fullmatch("[0-9a-f]{64}", release.sha256)
    assert release.binary.startswith(f"node_modules/{package.name}/")


def labelled(kind: str, target: str, version: str) -> bool:
    """Whether the CLI's own act would be labelled."""
    return any(
        rule.kind == kind and (not rule.versions or version in rule.versions) and re.fullmatch(rule.pattern, target)
        for rule in ClaudeCode.housekeeping
    )


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("write", "/home/user/.claude.json.tmp.7.1796042496788"),
        ("create", "/home/user/.claude/projects/-home-user-project/x.jsonl"),
        ("delete", "/tmp/claude-f193-cwd"),
        ("read", "/home/CLAUDE.md"),
        ("read", "/home/user/project/.git/config"),
        ("read", "/usr/lib/x86_64-linux-gnu/libc.so.6"),
        ("list", "/home/user/project/src"),
        ("exec", "/usr/bin/git --no-optional-locks status --short"),
        ("exec", "git -c core.askPass= -c 'core.alternateRefsCommand=f() { git; }; f' remote get-url origin"),
        ("exec", "bash -c -l 'SNAPSHOT_FILE=/home/user/.claude/shell-snapshots/x.sh\n echo'"),
        ("connect", "127.0.0.1:8080"),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_what_the_cli_does_for_itself_is_labelled(kind: str, target: str, version: str) -> None:
    assert labelled(kind, target, version)


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("read", "/home/user/project/.env"),
        ("read", "/home/user/.ssh/id_ed25519"),
        ("write", "/home/user/project/src/app.py"),
        ("write", "/home/user/project/CLAUDE.md"),
        ("delete", "/home/user/project/.git/index"),
        ("exec", "git push --force"),
        ("exec", "git -c a=b commit -m status"),
        ("exec", "rm -rf build"),
        ("connect", "10.0.0.1:443"),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_task_is_about_is_never_labelled(kind: str, target: str, version: str) -> None:
    assert not labelled(kind, target, version)


def test_what_one_version_does_is_not_labelled_in_the_other() -> None:
    assert labelled("exec", "npm root -g", "2.1.117")
    assert not labelled("exec", "npm root -g", "2.1.332")


def test_null_trials_are_a_mapping_of_tested_versions() -> None:
    assert set(ClaudeCode.null_trials) <= set(VERSIONS)
    assert "0.0.1" not in ClaudeCode.null_trials
