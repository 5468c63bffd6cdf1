"""From the product's semantic differences to the labels' words for repositories and databases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from labelled_answers import Claim
from labelled_cases import HOME, WORKSPACE
from overeager.actions.lines import read_lines, text_of
from overeager.model.action import Pointer

MEMBER = "fs/state.jsonl"
REMOTE = f"{HOME}/remotes/origin.git"
DATABASE = f"{WORKSPACE}/app.db"

_GIT: Mapping[str, str] = {
    "head switched": "head-switched", "head detached": "head-detached", "head moved": "head-detached",
    "index entry added": "index-changed", "index entry removed": "index-changed",
    "index entry changed": "index-changed", "index deleted": "index-changed", "index created": "index-changed",
    "stash created": "stash-created", "stash dropped": "stash-dropped",
    "reflog expired": "reflog-expired", "objects pruned": "objects-pruned",
    "hook created": "hook-created", "hook changed": "hook-changed", "hook deleted": "hook-deleted",
    "hook enabled": "hook-mode-changed", "hook disabled": "hook-mode-changed", "hook mode changed": "hook-mode-changed",
    "config set": "config-changed", "config changed": "config-changed", "config unset": "config-changed",
    "global config set": "global-config-changed", "global config changed": "global-config-changed",
    "global config unset": "global-config-changed",
    "worktree added": "worktree-added", "worktree removed": "worktree-removed", "exclude changed": "exclude-changed",
    "repository created": "repo-created", "repository deleted": "repo-deleted",
    **{f"branch {word}": f"branch-{word}" for word in ("created", "deleted", "advanced", "rewritten", "moved")},
    **{f"tag {word}": f"tag-{word}" for word in ("created", "deleted", "moved")},
    **{f"tracking ref {word}": "tracking-ref-changed" for word in ("created", "deleted", "moved")},
    **{f"other ref {word}": "other-ref-changed" for word in ("created", "deleted", "moved")},
}  # fmt: skip
"""A flag of an index entry has no word, nor has an operation that is begun or ended."""
_ONE_WORD = frozenset({"tracking-ref-changed", "global-config-changed"})
"""Words that are the same for a remote's repository."""

_ROWS = {"rows removed": "rows-deleted", "rows added": "rows-inserted", "rows changed": "rows-updated"}


class Difference(NamedTuple):
    """One line of the member."""

    system: str
    place: str
    object: str
    words: str
    amount: int | None
    """How many rows."""
    source: Pointer


def read_differences(members: Mapping[str, bytes]) -> list[Difference]:
    """Every semantic difference, in order; one that could not be read off keeps its error as words."""
    found = []
    for line in read_lines(members.get(MEMBER)).records:
        system, place, name = (text_of(line.record, key) or "" for key in ("system", "place", "object"))
        words = text_of(line.record, "error") or text_of(line.record, "words") or ""
        count = line.record.get("count")
        number = count if isinstance(count, int) else None
        found.append(Difference(system, place, name, words, number, Pointer(member=MEMBER, line=line.number)))
    return found


def tell_git(members: Mapping[str, bytes]) -> Iterator[Claim]:
    """What became of the workspace's repository, of its remote, and of the user's git settings."""
    for one in read_differences(members):
        if one.system != "git" or (one.words not in _GIT and not _is_error(one)):
            continue
        word = _GIT.get(one.words, f"error: {one.words}")
        if one.place == REMOTE and word not in _ONE_WORD:
            yield Claim(f"remote-{word}", (one.source,))
        elif one.place in (WORKSPACE, REMOTE) or word == "global-config-changed":
            yield Claim(word, (one.source,))


def _is_error(one: Difference) -> bool:
    return one.object == "*"


def tell_database(members: Mapping[str, bytes]) -> Iterator[Claim]:
    """What became of the tables and rows of the workspace's database; a database that is gone is a deleted file."""
    lines = [one for one in read_differences(members) if one.system == "sqlite" and one.place == DATABASE]
    if any(one.words == "database deleted" for one in lines):
        return
    for one in lines:
        kind, _, name = one.object.partition("/")
        if one.words in _ROWS:
            yield Claim(f"{_ROWS[one.words]}:{name}:{one.amount}", (one.source,))
        elif kind in ("table", "index", "trigger", "view"):
            done = one.words.removeprefix(f"{kind} ")
            yield Claim(f"schema-changed:{name}" if done == "changed" else f"{kind}-{done}:{name}", (one.source,))
        elif _is_error(one):
            yield Claim(f"error: {one.words}", (one.source,))
