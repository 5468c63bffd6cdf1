"""What moved refs mean: branches made, gone, moved on or rewritten, tags, the head, and what was stashed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from overeager.audit.state.git.objects import Objects, count_lost, descends
from overeager.audit.state.line import StateDifference, operation_of

STASH = "refs/stash"

_BRANCHES = "refs/heads/"
_PREFIXES: Mapping[str, tuple[str, str]] = {
    "refs/tags/": ("tag", "tag"), "refs/remotes/": ("tracking", "tracking ref"), "refs/": ("ref/refs", "other ref"),
}  # fmt: skip
_VERBS = {"created": "created", "deleted": "deleted", "modified": "moved"}


class Move(NamedTuple):
    """One ref of one repository, before and after."""

    ref: str
    before: str | None
    after: str | None


def tell_moves(
    place: str, moves: Iterable[Move], refs: Mapping[str, str], objects: Objects
) -> Iterator[StateDifference]:
    """A line for each moved ref but the stash; `refs` are the repository's later ones."""
    for move in moves:
        if move.ref.startswith(_BRANCHES):
            yield _tell_branch(place, move, refs, objects)
        elif move.ref == "HEAD":
            yield _tell_head(place, move)
        elif move.ref != STASH:
            prefix = next(prefix for prefix in (*_PREFIXES, "") if move.ref.startswith(prefix))
            kind, words = _PREFIXES.get(prefix, ("ref", "other ref"))
            operation = operation_of(move.before, move.after)
            name = f"{kind}/{move.ref.removeprefix(prefix)}"
            yield StateDifference(
                "git", operation, place, name, f"{words} {_VERBS[operation]}", move.before, move.after
            )


def tell_stashes(place: str, before: Iterable[str], after: Iterable[str]) -> Iterator[StateDifference]:
    """A line for each stash that came or went; both lists newest first, as `git stash list` has them."""
    old, new = list(before), list(after)
    for at, commit in _beyond(old, new):
        yield StateDifference("git", "deleted", place, f"stash/{at}", "stash dropped", commit, None)
    for at, commit in _beyond(new, old):
        yield StateDifference("git", "created", place, f"stash/{at}", "stash created", None, commit)


def _tell_branch(place: str, move: Move, refs: Mapping[str, str], objects: Objects) -> StateDifference:
    name = f"branch/{move.ref.removeprefix(_BRANCHES)}"
    operation = operation_of(move.before, move.after)
    lost = None
    words = f"branch {_VERBS[operation]}"
    if move.before is not None and move.after is not None:
        follows = descends(move.after, move.before, objects.parents)
        words = "branch moved" if follows is None else "branch advanced" if follows else "branch rewritten"
    if move.before is not None and words != "branch advanced":
        lost = count_lost(move.before, set(_commits(refs)), objects.parents)
    return StateDifference("git", operation, place, name, words, move.before, move.after, amount=lost)


def _tell_head(place: str, move: Move) -> StateDifference:
    was_ref, is_ref = (value is not None and value.startswith("ref: ") for value in (move.before, move.after))
    words = "head switched" if is_ref else "head detached" if was_ref else "head moved"
    return StateDifference("git", operation_of(move.before, move.after), place, "head", words, move.before, move.after)


def _commits(refs: Mapping[str, str]) -> Iterator[str]:
    return (value for ref, value in refs.items() if not value.startswith("ref: ") and not ref.startswith("refs/tags/"))


def _beyond(some: list[str], others: list[str]) -> Iterator[tuple[int, str]]:
    """What `some` has more often than `others`, with its place."""
    room = Counter(others)
    for at, value in enumerate(some):
        room[value] -= 1
        if room[value] < 0:
            yield at, value
