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

_GIT_FILES = rf"(?:/.*)?/\.git(?:/.*|ignore|attributes)?|(?:/.*)?/\.mailmap|{_HOME}/\.(?:gitconfig|config/git/.*)"

_SYSTEM = r"/(?:(?:usr|lib|lib64|bin|etc|proc|sys|dev|opt|run|var|System/Library)(?:/.*)?|home|tmp)?"

_SHELL_START = rf"{_HOME}/\.(?:bash_profile|bash_login|profile|bashrc)"
"""Read by the login shell that takes the snapshot of the user's shell, once, before the first command."""

_DRAFT = r"(?:/.*)?/[^/]+\.tmp\.\d+\.[0-9a-f]+"
"""What an edit writes beside its file before it takes the file's name."""

_GIT_OPTIONS = r"(?:--no-optional-locks |-c '.*?' |-c \S+ )*"
_GIT_LOOKS = r"(?:(?:status|log|config|rev-parse|remote|ls-files|(?:-C \S+ )?worktree list)\b.*|--version)"
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
    *_files(("read",), _SHELL_START),
    *_files(("list",), rf"{_HOME}(?:/.*)?"),
    # A folder is made where none can be missing, to be sure of it.
    *_files(("create",), _HOME),
    *_files(("create", "write", "mode"), _DRAFT),
    *_commands("claude -p .*", f"git {_GIT_OPTIONS}{_GIT_LOOKS}", "bash -c -l .*SNAPSHOT_FILE=.*"),
    # af16 is netlink: which addresses this machine has.
    Housekeeping("connect", r"127\.0\.0\.1:\d+|\[::1\]:\d+|\S+:53|af16|unix:/(?:var/)?run/nscd/socket"),
    # 2.1.117 calls the vendor when it leaves, whatever endpoint it was given.
    Housekeeping("connect", r"dns:api\.anthropic\.com", versions=(OLD,)),
    Housekeeping("fetch", r"https://api\.anthropic\.com/", versions=(OLD,)),
    # The snapshot of the user's shell: its functions, options and aliases, filtered.
    *_commands("id -u", "cat", r"awk '[^']*print \"set -o \"[^']*'"),
    # 2.1.117 asks npm where it lies and ps which editor runs, lists the project, and leaves a log of npm.
    *_commands("sh -c '(?:npm root -g|ps aux .*)'", r"(?:node )?(?:/\S*/)?npm root -g", "ps aux", versions=(OLD,)),
    *_commands(
        "grep -E .*code\\|cursor\\|.*",
        "grep -v grep",
        "rg (?:--version|--no-config --files .*)",
        "zsh --version",
        "head -n 1000",
        "cut '-d ' -f3",
        "grep (?:-vE '\\^_.*'|on)",
        "sed 's/\\^(?:alias //g|/alias -- /)'",
        versions=(OLD,),
    ),
    # A mark for whoever traces the kernel; there is nobody.
    *_files(("write",), "/sys/kernel/debug/tracing/trace_marker", OLD),
    *_files(_KEEPING, rf"{_HOME}/\.npm(?:rc|/_logs(?:/.*)?)?", OLD),
    *_files(_LOOKING, rf"{_HOME}/\.config/anthropic/.*", NEW),
    *_commands("bash -c env", "env", "sed -e '1001,[^']*'(?: -e 's/[^']*alias[^']*')+", versions=(NEW,)),
    # It ends a helper that it no longer waits for, the last git on its way out.
    Housekeeping("signal", r"\d+"),
)
