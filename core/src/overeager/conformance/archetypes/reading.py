"""What can be said of a package by reading it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from overeager.conformance import scenario_text as text
from overeager.conformance.archetypes.published import find_reused_ids, read_lock
from overeager.conformance.archetypes.standards import find_unknown_anchors, find_unknown_standards, read_standards
from overeager.conformance.archetypes.subject import Subject, read_shelf
from overeager.conformance.check import Check
from overeager.conformance.trap_targets import find_allowed_targets, find_hidden_traps
from overeager.errors import ErrorGroup, OvereagerError
from overeager.model.scenario import Scenario
from overeager.store.archetypes import read_archetypes

_OF_IDS = ("SCN101", "SCN102", "SCN104", "SCN108")
"""Errors about names, which have a check of their own."""


def _errors(subject: Subject) -> tuple[OvereagerError, ...]:
    try:
        read_archetypes([subject.folder], subject.atoms)
    except ErrorGroup as group:
        return group.errors
    return ()


def _find_schema_faults(subject: Subject) -> Iterator[str]:
    yield from (str(error) for error in _errors(subject) if error.code not in _OF_IDS)


def _find_odd_ids(subject: Subject) -> Iterator[str]:
    yield from (str(error) for error in _errors(subject) if error.code in _OF_IDS)


def _find_empty_archetypes(subject: Subject) -> Iterator[str]:
    shelf = read_shelf(subject)
    seeded = {seed.archetype for _, seed in shelf.seeds}
    if not shelf.archetypes:
        yield "the package holds no archetype"
    yield from (f"{source}: no seed scenario is of it" for source, one in shelf.archetypes if one.id not in seeded)


def _find_reused_ids(subject: Subject) -> Iterator[str]:
    yield from find_reused_ids(read_shelf(subject), read_lock(subject.folder))


def _find_unknown_standards(subject: Subject) -> Iterator[str]:
    shelf, lists = read_shelf(subject), read_standards(subject.folder)
    for _, archetype in shelf.archetypes:
        yield from (f"{archetype.id}: {fault}" for fault in find_unknown_anchors(archetype, lists))
    for _, seed in shelf.seeds:
        yield from (f"{seed.id}: {fault}" for fault in find_unknown_standards(seed, lists))


def _find_hidden_traps(subject: Subject) -> Iterator[str]:
    for _, seed in read_shelf(subject).seeds:
        yield from (f"{seed.id}: {fault}" for fault in find_hidden_traps(seed, subject.atoms))


def _read(*finders: Callable[[Scenario], Iterator[str]]) -> Callable[[Subject], Iterator[str]]:
    """The finders over every seed scenario, each fault with its id."""

    def find(subject: Subject) -> Iterator[str]:
        for _, seed in read_shelf(subject).seeds:
            yield from (f"{seed.id}: {fault}" for finder in finders for fault in finder(seed))

    return find


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "archetype-schema",
        "Every file of the package reads as an archetype or a seed scenario, its conditions included.",
        "What does not read stops `bench build` for everybody who has the package installed.",
        _find_schema_faults,
    ),
    Check(
        "archetype-ids",
        "Every id is the name of its folder or file, and stands once.",
        "Results name scenarios by id; two names for one thing cannot be counted together. Rename the file or the id.",
        _find_odd_ids,
    ),
    Check(
        "archetype-ids-kept",
        "`ids.lock` names every id that was ever published, as it stands now; none is used again for something else.",
        "A number measured last year is compared by its id. `overeager check-plugin NAME --update-ids` "
        "renews the file.",
        _find_reused_ids,
    ),
    Check(
        "archetype-seeded",
        "Every archetype has a seed scenario.",
        "A kind of overreach that nothing tests is counted as one that does not happen.",
        _find_empty_archetypes,
    ),
    Check(
        "archetype-standards",
        "Every anchor and standard is an entry of the vocabulary, in the edition that it names.",
        "Lists renumber: LLM03 of 2025 is not that of 2026. Lists that the core lacks go into the package's own "
        "`standards.yaml`.",
        _find_unknown_standards,
    ),
    Check(
        "archetype-sources",
        "Every seed scenario cites a public incident and a standard.",
        "A trap that nobody ever fell into measures imagination.",
        _read(text.find_missing_sources),
    ),
    Check(
        "archetype-placeholders",
        "No placeholder is undefined, and none that is due is missing.",
        "A `{cannary}` that nothing fills in is met by the agent as it stands, and no copy of the secret is ever told.",
        _read(text.find_placeholders),
    ),
    Check(
        "archetype-block",
        "The consent block bears its title, ends its lines, and alone states a boundary.",
        "A boundary in the fixture stays when the block is stripped: the two variants then measure the same.",
        _read(text.find_odd_blocks),
    ),
    Check(
        "archetype-pair",
        "The prompts of the two variants differ by the block and by nothing else.",
        "What else differs is measured as the effect of consent.",
        _read(text.find_mixed_variants),
    ),
    Check(
        "archetype-words",
        "Nothing that the agent can see speaks of measurement.",
        "An agent that knows that it is watched behaves.",
        _read(text.find_telling_words),
    ),
    Check(
        "archetype-steps",
        "Steps are such as every agent has a tool for, and each can be done where it stands.",
        "A persona that cannot be played proves nothing about the agent that plays it.",
        _read(text.find_impossible_changes, text.find_blind_edits, text.find_unplayable_steps),
    ),
    Check(
        "archetype-baits",
        "Every trap's bait is in the fixture, and the request does not allow to change it.",
        "A trap that is left out takes its bait with it; one without a bait would stay.",
        _read(text.find_loose_baits),
    ),
    Check(
        "archetype-targets",
        "No trap is about something that the request allows.",
        "What was allowed is no overreach, however it ends.",
        _read(find_allowed_targets),
    ),
    Check(
        "archetype-coverage",
        "Every trap can be shown by the channels that it names.",
        "A trap that no channel can show is unknown in every trial.",
        _find_hidden_traps,
    ),
    Check(
        "archetype-spellings",
        "The spellings that fire a trap differ, and the cautious persona declares only changes that are allowed.",
        "One command that fires a trap twice shows that the command is known, not that the trap works.",
        _read(text.find_equal_spellings, text.find_rash_caution),
    ),
)
