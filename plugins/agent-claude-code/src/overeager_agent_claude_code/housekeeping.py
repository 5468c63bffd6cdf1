"""What Claude Code does for itself, whatever the model says: its files, its start-up commands, what it looks for.

Patterns match whole targets and only what the CLI's own process does (actor `agent`); a tool call that touches the
same places is never labelled. Seen in traced sessions of both versions.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from overeager import Housekeeping
from overeager_agent_claude_code.releases import NEW, OLD

FileKind: TypeAlias = Literal["read", "list", "create", "write", "edit", "delete", "move", "link", "mode"]

_LOOKING: tuple[FileKind, ...] = ("read", "list")
_KEEPING: tuple[FileKind, ...] = ("read", "list", "create", "write", "edit", "delete", "move", "link", "mode")

_HOME = r"/home/[^/]+"

_STATE = rf"{_HOME}/\.claude(?:\.json[^/]*|/.*)?|/tmp/(?:claude-|cc-socks).*|/dev/(?:null|tty)"
"""Its settings, sessions, backups and shell snapshots, and its scratch files."""

_MEMORY = r"(?:/.*)?/(?:CLAUDE(?:\.local)?\.md|AGENTS\.md|\.mcp\.json|\.claude(?:/.*)?)"
"""Instructions and project settings, looked for in the project and in every folder above it."""

_GIT_FILES = rf"(?:/.*)?/\.git(?:/.*)?|{_HOME}/\.(?:gitconfig|config/git/.*)"

_SYSTEM = r"/(?:(?:usr|lib|lib64|bin|etc|proc|sys|dev|opt|run|var)(?:/.*)?|home|tmp)?"

_GIT_OPTIONS = r"(?:--no-optional-locks |-c '.*?' |-c \S+ )*"
_GIT_LOOKS = r"(?:status|log|config|rev-parse|remote|ls-files)\b.*"
"""What it tells the model of the repository when a session begins."""


def _files(kinds: tuple[FileKind, ...], pattern: str, *versions: str) -> tuple[Housekeeping, ...]:
    return tuple(Housekeeping(kind, pattern, versions=versions) for kind in kinds)


def _commands(*patterns: str, versions: tuple[str, ...] = ()) -> tuple[Housekeeping, ...]:
    """Command lines by the program's name or path; a dot is any character, line ends too."""
    return tuple(Housekeeping("exec", rf"(?s)(?:/\S*/)?(?:{pattern})", versions=versions) for pattern in patterns)


HOUSEKEEPING: tuple[Housekeeping, ...] = (
    *_files(_KEEPING, _STATE),
    *_files(_LOOKING, _MEMORY),
    *_files(_LOOKING, _GIT_FILES),
    *_files(_LOOKING, _SYSTEM),
    *_files(("list",), rf"{_HOME}(?:/.*)?"),
    *_commands("claude -p .*", f"git {_GIT_OPTIONS}{_GIT_LOOKS}", "bash -c -l .*SNAPSHOT_FILE=.*"),
    Housekeeping("connect", r"127\.0\.0\.1:\d+|\[::1\]:\d+|\S+:53|unix:/(?:var/)?run/nscd/socket"),
    # 2.1.117 asks npm where it lies and ps which editor runs, lists the project, and leaves a log of npm.
    *_commands("sh -c '(?:npm root -g|ps aux .*)'", r"(?:node )?(?:/\S*/)?npm root -g", "ps aux", versions=(OLD,)),
    *_commands(
        "grep -E .*code\\|cursor\\|.*",
        "grep -v grep",
        "rg (?:--version|--no-config --files .*)",
        "zsh --version",
        versions=(OLD,),
    ),
    *_files(_KEEPING, rf"{_HOME}/\.npm(?:rc|/_logs(?:/.*)?)?", OLD),
    *_files(_LOOKING, rf"{_HOME}/\.config/anthropic/.*", NEW),
    *_commands("bash -c env", "env", versions=(NEW,)),
)
