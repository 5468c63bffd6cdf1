"""A fixture's repository, built by the host's git with fixed identity, dates and bytes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from overeager.errors import OvereagerError
from overeager.model.fixture import Branch, Commit, File, Git
from overeager.store.git_index import settle_index
from overeager.store.tree import Node

AUTHOR = ("Dana Reyes", "dana.reyes@example.com")
"""Who made the commits, and whose home it is."""

Files: TypeAlias = "dict[str, File]"

_INTERVAL = 26 * 3600 + 13 * 60
"""Seconds from one commit to the next."""

_ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "TZ": "UTC",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": AUTHOR[0],
    "GIT_AUTHOR_EMAIL": AUTHOR[1],
    "GIT_COMMITTER_NAME": AUTHOR[0],
    "GIT_COMMITTER_EMAIL": AUTHOR[1],
}

_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.checkStat": "minimal",
    "core.fsmonitor": "false",
    "core.autocrlf": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "repack.writeBitmaps": "false",
    "index.version": "2",
    "index.threads": "1",
    "pack.threads": "1",
    "commit.gpgSign": "false",
    "protocol.file.allow": "always",
    "advice.detachedHead": "false",
}

_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = {bare}
{core}"""

_WORKTREE_CORE = "\tlogallrefupdates = true\n\tcheckStat = minimal\n"


class Repository(NamedTuple):
    """What is to be laid: all of it relative, `.git` below the workspace, the remote below the home."""

    tracked: Files
    """The files of the branch that is checked out."""
    inner: tuple[Node, ...]
    """`.git/…`."""
    remote: tuple[Node, ...]
    """`remotes/NAME.git/…`."""


class Site(NamedTuple):
    """Where and from what a repository is built."""

    scratch: Path
    """An empty folder."""
    home: str
    """The home as seen inside, for the remote's address."""
    clock: int
    """Seconds since the epoch: the scenario's now."""
    files: Files
    """The fixture's files in the workspace, by path."""
    content: Callable[[File], bytes]


def build_repository(git: Git, site: Site) -> Repository:
    """The repository of `git`; equal arguments give equal bytes with one version of git.

    Raises STO010 when git refuses (an unknown branch, a file deleted that is not there), STO011 without git.
    """
    worktree = site.scratch / "worktree"
    _run(site.scratch, site.clock, "init", "-q", "--template=", "--object-format=sha1", str(worktree))
    (worktree / ".git" / "config").write_text(_CONFIG.format(bare="false", core=_WORKTREE_CORE))
    tracked = _commit_branches(git, site, worktree)
    if git.stash:
        _write_files(worktree, {file.path: file for file in git.stash}, site)
        _run(worktree, site.clock, "stash", "push", "-q", "--include-untracked")
    for tag in git.tags:
        words = ("-a", "-m", tag.message) if tag.message else ()
        _run(worktree, site.clock, "tag", *words, tag.name, tag.branch)
    bare = _build_remote(git, site, worktree)
    for branch in git.branches:
        if branch.deleted:
            _run(worktree, site.clock, "branch", "-q", "-D", branch.name)
    for key, value in git.config.items():
        _run(worktree, site.clock, "config", key, value)
    _run(worktree, site.clock, "repack", "-a", "-d", "-q", "-n")
    _write_files(worktree, {**tracked, **site.files, **{file.path: file for file in git.dirty}}, site)
    _renew_index(worktree, site.clock)
    inner = _read_nodes(worktree / ".git", ".git", site.clock)
    return Repository(tracked, inner, _read_nodes(bare, f"remotes/{git.remote}.git", site.clock) if bare else ())


def _commit_branches(git: Git, site: Site, worktree: Path) -> Files:
    """Make every commit of every branch and check out the head; returns the head's files."""
    heads: dict[str, Files] = {}
    time = site.clock - _INTERVAL * sum(len(branch.commits) for branch in git.branches)
    for branch in git.branches:
        heads[branch.name] = dict(heads[_start(branch, heads)]) if heads else {}
        if branch.start is None:
            _run(worktree, time, "symbolic-ref", "HEAD", f"refs/heads/{branch.name}")
        else:
            _run(worktree, time, "checkout", "-q", "-f", "-b", branch.name, branch.start)
        for commit in branch.commits:
            _commit(commit, heads[branch.name], site, worktree, time)
            time += _INTERVAL
    if git.head not in heads:
        raise _no_branch(git.head, "head")
    _run(worktree, site.clock, "checkout", "-q", "-f", git.head)
    return heads[git.head]


def _start(branch: Branch, heads: Mapping[str, Files]) -> str:
    if branch.start is None or branch.start not in heads:
        raise _no_branch(branch.start, f"the start of '{branch.name}'")
    return branch.start


def _no_branch(name: str | None, role: str) -> OvereagerError:
    return OvereagerError(
        "STO010",
        f"the fixture's repository has no branch '{name}' ({role})",
        cure="every branch but the first names, under `start`, one that stands before it",
    )


def _commit(commit: Commit, files: Files, site: Site, worktree: Path, time: int) -> None:
    """One commit; `files` becomes what the branch then holds."""
    if commit.delete:
        _run(worktree, time, "rm", "-q", "-f", "--", *commit.delete)
        for path in commit.delete:
            files.pop(path, None)
    written = {file.path: file for file in commit.files}
    if commit.all_files:
        _write_files(worktree, site.files, site)
        _run(worktree, time, "add", "-A", "--", ".")
    _write_files(worktree, written, site)
    if written:
        _run(worktree, time, "add", "-f", "--", *written)
    files.update(written)
    _run(worktree, time, "commit", "-q", "--allow-empty", "--no-verify", "-F", "-", text=commit.message)


def _write_files(worktree: Path, files: Mapping[str, File], site: Site) -> None:
    """Lay files over the worktree: time as declared; of the mode only what git knows, so that git can read them."""
    for path, file in files.items():
        place = worktree / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(site.content(file))
        place.chmod(0o755 if int(file.mode, 8) & 0o100 else 0o644)
        time = site.clock - file.age_days * 86400
        os.utime(place, (time, time))


def _build_remote(git: Git, site: Site, worktree: Path) -> Path | None:
    """The bare remote with what was pushed, and the worktree's knowledge of it."""
    if git.remote is None:
        return None
    bare = site.scratch / "remote"
    _run(site.scratch, site.clock, "init", "-q", "--bare", "--template=", "--object-format=sha1", str(bare))
    (bare / "config").write_text(_CONFIG.format(bare="true", core=""))
    _run(bare, site.clock, "symbolic-ref", "HEAD", f"refs/heads/{git.branches[0].name}")
    config = [f'[remote "{git.remote}"]', f"\turl = {site.home}/remotes/{git.remote}.git"]
    config.append(f"\tfetch = +refs/heads/*:refs/remotes/{git.remote}/*")
    for branch in git.branches:
        if branch.pushed is not None and _push(branch, git.remote, bare, worktree, site.clock):
            config += [f'[branch "{branch.name}"]', f"\tremote = {git.remote}", f"\tmerge = refs/heads/{branch.name}"]
    with (worktree / ".git" / "config").open("a") as settings:
        settings.write("\n".join(config) + "\n")
    for tag in git.tags:
        if tag.pushed:
            _run(worktree, site.clock, "push", "-q", str(bare), f"refs/tags/{tag.name}")
    _run(bare, site.clock, "repack", "-a", "-d", "-q", "-n")
    return bare


def _push(branch: Branch, remote: str, bare: Path, worktree: Path, clock: int) -> bool:
    """Push the first `branch.pushed` of its own commits; False when that is no commit at all."""
    behind = len(branch.commits) - (branch.pushed or 0)
    if behind < 0 or (branch.start is None and not branch.pushed):
        return False
    commit = f"{branch.name}~{behind}"
    _run(worktree, clock, "push", "-q", str(bare), f"{commit}:refs/heads/{branch.name}")
    reason = "update by push"
    tracking = f"refs/remotes/{remote}/{branch.name}"
    _run(worktree, clock, "update-ref", "--create-reflog", "-m", reason, tracking, commit)
    return True


def _renew_index(worktree: Path, clock: int) -> None:
    index = worktree / ".git" / "index"
    index.unlink(missing_ok=True)
    _run(worktree, clock, "read-tree", "HEAD")
    _run(worktree, clock, "update-index", "-q", "--refresh", allowed=(0, 1))
    index.write_bytes(settle_index(index.read_bytes(), worktree))


def _read_nodes(folder: Path, name: str, clock: int) -> tuple[Node, ...]:
    nodes = []
    for path in sorted(folder.rglob("*")):
        inner = f"{name}/{path.relative_to(folder)}"
        if path.is_dir():
            nodes.append(Node(inner, "directory", 0o755, clock))
        else:
            nodes.append(Node(inner, "file", path.stat().st_mode & 0o755, clock, path.read_bytes()))
    return tuple(nodes)


def _run(folder: Path, time: int, *arguments: str, text: str = "", allowed: tuple[int, ...] = (0,)) -> str:
    """Run git in `folder` at the time `time`, with nothing of the caller's environment."""
    settings = [part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")]
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{time} +0000")
    try:
        done = subprocess.run(
            ["git", *settings, *arguments],
            cwd=folder,
            env={**_ENVIRONMENT, **dates, "PATH": os.environ.get("PATH", os.defpath)},
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            umask=0o022,
            check=False,
        )
    except FileNotFoundError as error:
        raise OvereagerError("STO011", "git is not installed", cure="install git (Debian: apt install git)") from error
    if done.returncode not in allowed:
        raise OvereagerError(
            "STO010",
            f"git cannot build the fixture's repository: git {arguments[0]}: {done.stderr.strip()}",
            cure="mend the fixture's `git` part",
        )
    return done.stdout
