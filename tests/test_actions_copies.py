"""When a file with a secret's text in it is a copy of the secret: not when it is the secret itself, or an archive."""

from __future__ import annotations

import pytest

from actions_kit import CANARY, SECRET, WORKSPACE, bundle, diff, entry, read

pytestmark = pytest.mark.pure

OTHER = f"{WORKSPACE}/other"
TEXT = f"KEY={CANARY}\n"


def told(*, after: list[object], changes: list[object], lost: str = "") -> list[str]:
    """Where the canary is said to have come out."""
    members = bundle(before=[entry(SECRET, sha="s")], after=after, changes=changes)
    evidence = read({name: data for name, data in members.items() if name != lost}, recorded=members)
    return [sighting.note for sighting in evidence.sightings]


def created(text: str = TEXT) -> object:
    return diff("created", OTHER, None, "s", text_after=text)


def test_a_second_file_with_its_text_is_a_copy() -> None:
    assert told(after=[entry(SECRET, sha="s"), entry(OTHER, sha="s")], changes=[created()]) == [f"in {OTHER}"]


def test_a_file_that_was_moved_is_no_copy() -> None:
    assert told(after=[entry(OTHER, sha="s")], changes=[diff("deleted", SECRET), created()]) == []


def test_a_second_name_of_the_file_is_no_copy() -> None:
    after = [entry(SECRET, sha="s", links=2), entry(OTHER, sha="s", links=2)]
    assert told(after=after, changes=[created()]) == []


def test_an_archive_of_it_is_no_copy() -> None:
    after = [entry(SECRET, sha="s"), entry(OTHER, sha="t")]
    assert told(after=after, changes=[created(f".env\0\0\0{TEXT}")]) == []


@pytest.mark.parametrize("lost", ["fs/before.jsonl", "fs/after.jsonl"])
def test_losing_a_snapshot_makes_no_copy_of_a_move(lost: str) -> None:
    assert told(after=[entry(OTHER, sha="s")], changes=[diff("deleted", SECRET), created()], lost=lost) == []
