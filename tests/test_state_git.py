"""What git commands mean, each told both ways: what changed, and nothing where nothing did."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from state_kit import PROJECT, changes, git, make_repository, told

Act = Callable[[Path], object]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    make_repository(tmp_path)
    return tmp_path


def by_git(*commands: str) -> Act:
    """Several git commands in the project; a leading `!` lets one fail."""

    def act(home: Path) -> None:
        for command in commands:
            words = command.removeprefix("!").replace("~/", f"{home}/").split()
            git(home / "project-x", *words, fails=command.startswith("!"))

    return act


def write(path: str, text: str, mode: int = 0o644) -> Act:
    def act(home: Path) -> None:
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
        (home / path).chmod(mode)

    return act


def together(*acts: Act) -> Act:
    return lambda home: [act(home) for act in acts]


def remove(path: str) -> Act:
    return lambda home: (home / path).unlink()


CONFLICT = together(
    by_git("checkout -q dev"),
    write("project-x/notes.txt", "dev\n"),
    by_git("commit -qam d", "checkout -q main"),
    write("project-x/notes.txt", "main\n"),
    by_git("commit -qam m"),
)
"""A branch dev that does not merge."""

CASES: dict[str, tuple[Act | None, Act, list[str]]] = {
    "a new branch": (None, by_git("branch new"), ["branch/new: branch created"]),
    "a merged branch deleted": (None, by_git("branch -q -d dev"), ["branch/dev: branch deleted (0)"]),
    "an unmerged branch deleted": (None, by_git("branch -q -D feat"), ["branch/feat: branch deleted (0)"]),
    "a ref removed by hand": (None, remove("project-x/.git/refs/heads/dev"), ["branch/dev: branch deleted (0)"]),
    "a packed ref deleted": (by_git("pack-refs --all"), by_git("branch -D dev"), ["branch/dev: branch deleted (0)"]),
    "refs packed": (None, by_git("pack-refs --all"), []),
    "a commit": (
        None,
        together(write("project-x/notes.txt", "four\n"), by_git("commit -qam four")),
        ["branch/main: branch advanced", "index/notes.txt: index entry changed"],
    ),
    "an empty commit": (None, by_git("commit -q --allow-empty -m e"), ["branch/main: branch advanced"]),
    "nothing to commit": (None, by_git("!commit -qm none"), []),
    "an amended commit": (None, by_git("commit -q --amend -m other"), ["branch/main: branch rewritten (0)"]),
    "a reset to the parent": (
        None,
        by_git("reset -q --hard HEAD~1"),
        ["branch/main: branch rewritten (0)", "index/notes.txt: index entry changed"],
    ),
    "a commit lost by a reset": (
        by_git("commit -q --allow-empty -m a", "commit -q --allow-empty -m b"),
        by_git("reset -q --soft HEAD~2"),
        ["branch/main: branch rewritten (2)"],
    ),
    "a reset that loses an edit alone": (write("project-x/notes.txt", "edit\n"), by_git("reset -q --hard"), []),
    "a branch moved in packs": (
        by_git("gc -q"),
        by_git("branch -f dev feat"),
        ["branch/dev: branch advanced"],
    ),
    "a tag": (None, by_git("tag v2"), ["tag/v2: tag created"]),
    "an annotated tag": (None, by_git("tag -a v2 -m words"), ["tag/v2: tag created"]),
    "a tag deleted": (None, by_git("tag -d v1"), ["tag/v1: tag deleted"]),
    "a tag moved": (None, by_git("tag -f v1 feat"), ["tag/v1: tag moved"]),
    "notes": (None, by_git("notes add -m words"), ["ref/refs/notes/commits: other ref created"]),
    "a switch": (None, by_git("checkout -q dev"), ["head: head switched"]),
    "a switch to the same": (None, by_git("checkout -q main"), []),
    "a detached head": (None, by_git("checkout -q --detach"), ["head: head detached"]),
    "an added file": (
        write("project-x/new.txt", "new\n"),
        by_git("add new.txt"),
        ["index/new.txt: index entry added"],
    ),
    "an intent to add": (
        write("project-x/new.txt", "new\n"),
        by_git("add -N new.txt"),
        ["index/new.txt: index entry added"],
    ),
    "a file out of the index": (None, by_git("rm -q --cached notes.txt"), ["index/notes.txt: index entry removed"]),
    "a mode in the index": (
        None,
        by_git("update-index --chmod=+x notes.txt"),
        ["index/notes.txt: index entry changed"],
    ),
    "a flag in the index": (
        None,
        by_git("update-index --assume-unchanged notes.txt"),
        ["index/notes.txt: index flag changed"],
    ),
    "an index refreshed": (
        None,
        together(lambda home: os.utime(home / "project-x/notes.txt", (1, 1)), by_git("status -s")),
        [],
    ),
    "an index of version 4": (None, by_git("update-index --index-version 4"), []),
    "a stash": (
        write("project-x/notes.txt", "edit\n"),
        by_git("stash -q"),
        ["stash/0: stash created"],
    ),
    "a stash of nothing": (None, by_git("stash"), []),
    "a stash dropped": (None, by_git("stash drop -q"), ["stash/0: stash dropped"]),
    "the older stash dropped": (
        together(write("project-x/notes.txt", "edit\n"), by_git("stash -q")),
        by_git("stash drop -q stash@{1}"),
        ["stash/1: stash dropped"],
    ),
    "all stashes dropped": (
        together(write("project-x/notes.txt", "edit\n"), by_git("stash -q")),
        by_git("stash clear"),
        ["stash/0: stash dropped", "stash/1: stash dropped"],
    ),
    "a stash popped": (None, by_git("stash pop -q"), ["stash/0: stash dropped"]),
    "a stash applied": (None, by_git("stash apply -q"), []),
    "a reflog expired": (
        None,
        by_git("reflog expire --expire=now HEAD"),
        ["reflog/HEAD: reflog expired (7)"],
    ),
    "a reflog emptied by hand": (
        None,
        write("project-x/.git/logs/refs/heads/main", ""),
        ["reflog/refs/heads/main: reflog expired (3)"],
    ),
    "a reflog removed": (
        None,
        remove("project-x/.git/logs/refs/heads/main"),
        ["reflog/refs/heads/main: reflog expired (3)"],
    ),
    "a gc with nothing to prune": (None, by_git("gc -q"), []),
    "a hook": (None, write("project-x/.git/hooks/pre-commit", "exit 0\n", 0o755), ["hook/pre-commit: hook created"]),
    "a sample of a hook": (None, write("project-x/.git/hooks/pre-push.sample", "x\n"), []),
    "a hook changed": (
        write("project-x/.git/hooks/pre-commit", "exit 1\n", 0o755),
        write("project-x/.git/hooks/pre-commit", "exit 0\n", 0o755),
        ["hook/pre-commit: hook changed"],
    ),
    "a hook deleted": (
        write("project-x/.git/hooks/pre-commit", "exit 1\n", 0o755),
        remove("project-x/.git/hooks/pre-commit"),
        ["hook/pre-commit: hook deleted"],
    ),
    "a hook disabled": (
        write("project-x/.git/hooks/pre-commit", "exit 1\n", 0o755),
        lambda home: (home / "project-x/.git/hooks/pre-commit").chmod(0o644),
        ["hook/pre-commit: hook disabled"],
    ),
    "a hook enabled": (
        write("project-x/.git/hooks/pre-commit", "exit 1\n", 0o644),
        lambda home: (home / "project-x/.git/hooks/pre-commit").chmod(0o755),
        ["hook/pre-commit: hook enabled"],
    ),
    "a hook in a folder of its own": (
        by_git("config core.hooksPath .githooks"),
        write("project-x/.githooks/pre-push", "exit 0\n", 0o755),
        ["hook/.githooks/pre-push: hook created"],
    ),
    "the folder of hooks changed": (
        None,
        by_git("config core.hooksPath .githooks"),
        ["config/core.hookspath: config set"],
    ),
    "a setting changed": (
        by_git("config user.name Dev"),
        by_git("config user.name Other"),
        ["config/user.name: config changed"],
    ),
    "a setting set to what it is": (by_git("config user.name Dev"), by_git("config user.name Dev"), []),
    "a setting removed": (
        by_git("config user.name Dev"),
        by_git("config --unset user.name"),
        ["config/user.name: config unset"],
    ),
    "a remote's address": (
        None,
        by_git("remote set-url origin /elsewhere"),
        ["config/remote.origin.url: config changed"],
    ),
    "an exclude": (None, write("project-x/.git/info/exclude", "*.env\n"), ["info/exclude: exclude changed"]),
    "a worktree": (
        None,
        by_git("worktree add -q ../wt -b side"),
        ["branch/side: branch created", "worktree/wt: worktree added"],
    ),
    "a worktree removed": (
        by_git("worktree add -q ../wt -b side"),
        by_git("worktree remove --force ../wt"),
        ["worktree/wt: worktree removed"],
    ),
    "a file staged in a worktree": (
        together(by_git("worktree add -q ../wt -b side"), write("wt/new.txt", "x\n")),
        lambda home: git(home / "wt", "add", "new.txt"),
        ["worktree/wt/index/new.txt: index entry added"],
    ),
    "a worktree that switches": (
        by_git("worktree add -q ../wt -b side"),
        lambda home: git(home / "wt", "checkout", "-q", "dev"),
        ["worktree/wt/head: head switched"],
    ),
    "a push": (
        by_git("commit -q --allow-empty -m p"),
        by_git("push -q origin main"),
        ["remote branch/main: branch advanced", "tracking/origin/main: tracking ref moved"],
    ),
    "a forced push": (
        by_git("commit -q --amend -m other"),
        by_git("push -q -f origin main"),
        ["remote branch/main: branch rewritten (0)", "tracking/origin/main: tracking ref moved"],
    ),
    "a push of nothing new": (None, by_git("push -q origin main"), []),
    "a dry push": (by_git("commit -q --allow-empty -m p"), by_git("push -q --dry-run origin main"), []),
    "a push that deletes": (
        None,
        by_git("push -q --delete origin dev"),
        ["remote branch/dev: branch deleted (0)", "tracking/origin/dev: tracking ref deleted"],
    ),
    "a push to a path": (
        None,
        by_git("push -q ~/remotes/origin.git main:copy"),
        ["remote branch/copy: branch created"],
    ),
    "a pushed tag": (by_git("tag v2"), by_git("push -q origin v2"), ["remote tag/v2: tag created"]),
    "a remote's tag deleted": (None, by_git("push -q --delete origin v1"), ["remote tag/v1: tag deleted"]),
    "a remote's setting": (
        None,
        by_git("--git-dir=~/remotes/origin.git config receive.denyDeletes true"),
        ["remote config/receive.denydeletes: config set"],
    ),
    "a remote's hook": (
        None,
        write("remotes/origin.git/hooks/pre-receive", "exit 1\n", 0o755),
        ["remote hook/pre-receive: hook created"],
    ),
    "a fetch of nothing new": (None, by_git("fetch -q"), []),
    "a fetch that prunes": (
        by_git("--git-dir=~/remotes/origin.git update-ref -d refs/heads/dev"),
        by_git("fetch -q --prune"),
        ["tracking/origin/dev: tracking ref deleted"],
    ),
    "a merge left unfinished": (
        CONFLICT,
        by_git("!merge -q dev"),
        ["index/notes.txt: index entry changed", "operation/merge: operation begun"],
    ),
    "a merge put back": (
        CONFLICT,
        by_git("!merge -q dev", "merge --abort"),
        [],
    ),
    "a repository made": (
        None,
        lambda home: git(home, "init", "-q", "other"),
        ["other repository: repository created"],
    ),
    "a repository made again": (None, by_git("init -q"), []),
    "a repository deleted": (
        None,
        lambda home: shutil.rmtree(home / "project-x/.git"),
        ["repository: repository deleted"],
    ),
    "a repository broken": (None, remove("project-x/.git/HEAD"), ["repository: repository broken"]),
    "the global settings": (
        None,
        write(".gitconfig", "[alias]\n\tst = !true\n[core]\n\tpager = \"less # x\" ; why\n"),
        [
            ".gitconfig global-config/alias.st: global config set",
            ".gitconfig global-config/core.pager: global config set",
        ],
    ),
    "looking": (None, by_git("log --oneline", "diff HEAD~1", "show --stat", "blame notes.txt", "status"), []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_git_did_is_told_in_its_own_words(name: str, home: Path) -> None:
    prepare, act, expected = CASES[name]
    if prepare is not None:
        prepare(home)
    assert told(home, lambda: act(home)) == expected


def test_the_only_branch_of_some_commits_tells_how_many_are_lost(home: Path) -> None:
    git(home / "project-x", "update-ref", "-d", "refs/remotes/origin/feat")
    assert told(home, lambda: git(home / "project-x", "branch", "-D", "feat")) == ["branch/feat: branch deleted (1)"]


def test_a_pruned_object_is_told_whether_it_lay_loose_or_packed(home: Path) -> None:
    project = home / "project-x"
    git(project, "checkout", "-q", "--orphan", "lost")
    git(project, "commit", "-q", "-m", "lost")
    git(project, "checkout", "-q", "main")
    git(project, "branch", "-q", "-D", "lost")
    git(project, "reflog", "expire", "--expire=now", "--all")
    loose = told(home, lambda: git(project, "prune", "--expire=now"))
    assert [line for line in loose if "pruned" in line] == ["object/pruned: objects pruned (1)"]
    git(project, "repack", "-adq")
    git(project, "branch", "-q", "-D", "feat")
    git(project, "update-ref", "-d", "refs/remotes/origin/feat")
    git(project, "reflog", "expire", "--expire=now", "--all")
    packed = told(home, lambda: git(project, "gc", "-q", "--prune=now"))
    assert packed == ["object/pruned: objects pruned (3)"]


def test_samples_and_ids_are_those_of_git(home: Path) -> None:
    project = home / "project-x"
    tip = git(project, "rev-parse", "feat")
    (deleted,) = changes(home, lambda: git(project, "branch", "-D", "feat"))
    assert (deleted.system, deleted.operation, deleted.place) == ("git", "deleted", PROJECT)
    assert (deleted.before, deleted.after) == (tip, None)


def test_a_repository_of_sha256_is_read_like_others(tmp_path: Path) -> None:
    project = tmp_path / "project-x"
    git(tmp_path, "init", "-q", "--object-format=sha256", "project-x")
    for text in ("one", "two"):
        (project / "notes.txt").write_text(text)
        git(project, "add", "-A")
        git(project, "commit", "-q", "-m", text)
    git(project, "gc", "-q")
    assert told(tmp_path, lambda: git(project, "commit", "-q", "--amend", "-m", "x")) == [
        "branch/main: branch rewritten (1)"
    ]


def test_nothing_is_read_where_nothing_changed(home: Path) -> None:
    assert changes(home, lambda: None) == []
