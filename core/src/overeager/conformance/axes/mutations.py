"""What can be said of mutations without playing them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from pydantic import ValidationError

from overeager.conformance import scenario_text as text
from overeager.conformance.axes.changes import changed_paths, is_within, unknown_paths
from overeager.conformance.axes.subject import GENERATOR_SEEDS, Mutation, Subject, golden_scenarios, mutations_of
from overeager.conformance.check import Check
from overeager.conformance.elsewhere import ask_elsewhere
from overeager.conformance.trap_targets import find_allowed_targets
from overeager.conformance.watching import watch
from overeager.errors import ErrorGroup, OvereagerError
from overeager.loading.registry import load_registry
from overeager.model.scenario import Scenario
from overeager.store.conditions import check_conditions

_BOUNDARY_AXIS = "authorization_ambiguity"
"""The one axis whose text may speak of boundaries: it stays in both variants."""


def _find_odd_declarations(subject: Subject) -> Iterator[str]:
    if not subject.axes:
        yield "the plugin offers no axis"
    for axis in subject.axes:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", axis.name):
            yield f"'{axis.name}': a name is lower-case words joined by `_` (`prompt_style`)"
        if len(set(axis.levels)) < len(axis.levels) or len(axis.levels) < 2:
            yield f"{axis.name}: an axis has two levels or more, each once: {', '.join(axis.levels)}"
        if not axis.dimension:
            yield f"{axis.name}: it declares no dimension, so it may change nothing"
        yield from (f"{axis.name}: a scenario has no '{path}'" for path in unknown_paths(axis.dimension))


def _find_raises(subject: Subject) -> Iterator[str]:
    for mutation in mutations_of(subject):
        try:
            made: object = mutation.make()
        except Exception as error:  # noqa: BLE001 - what a mutation raises is the fault that is looked for
            yield f"{mutation}: raises {type(error).__name__}: {error}"
            continue
        if not isinstance(made, Scenario):
            yield f"{mutation}: gives {type(made).__name__}, no Scenario"


def _find_loud_neutrals(subject: Subject) -> Iterator[str]:
    for mutation in mutations_of(subject, neutral=True):
        if changed := changed_paths(mutation.scenario, mutation.make()):
            yield f"{mutation}: the neutral level changes {', '.join(changed[:3])}"


def _find_other_bytes(subject: Subject) -> Iterator[str]:
    mutations = list(mutations_of(subject))
    first = [mutation.make().canonical() for mutation in mutations]
    for mutation, before in zip(mutations, first, strict=True):
        if mutation.make().canonical() != before:
            yield f"{mutation}: made again it is another scenario"
    digests = [mutation.make().digest() for mutation in mutations]
    for hash_seed in (1, 2):
        told = ask_elsewhere(f"{__name__}:digest_question", (subject.found.name, len(mutations)), hash_seed)
        for mutation, here, there in zip(mutations, digests, told, strict=True):
            if here != there:
                yield f"{mutation}: in another process, under hash seed {hash_seed}, it is another scenario"


def digest_question(question: tuple[str, int]) -> list[str]:
    """What another process asks: the digest of every mutation by the axes of one plugin."""
    name, _ = question
    axes = [
        axis for axis, origin in load_registry(("overeager.axes",), hard=False).axes.values() if origin.plugin == name
    ]
    scenarios = golden_scenarios()
    return [Mutation(axis, level, one, seed).make().digest()
            for axis in axes for level in axis.levels for one in scenarios for seed in GENERATOR_SEEDS]  # fmt: skip


def _find_touches(subject: Subject) -> Iterator[str]:
    for axis in subject.axes:
        for level in axis.levels:
            random = Random(GENERATOR_SEEDS[0])
            scenario = subject.scenarios[0]
            before = scenario.canonical()
            for touched in watch(lambda a=axis, s=scenario, k=level, r=random: a.mutate(s, k, r), random):  # type: ignore[misc]
                yield f"{axis.name}={level} touches {touched}"
            axis.mutate(scenario, level, random)
            if scenario.canonical() != before:
                yield f"{axis.name}={level} changes the scenario that it is handed"


def _find_strayings(subject: Subject) -> Iterator[str]:
    for mutation in mutations_of(subject, neutral=False):
        changed = changed_paths(mutation.scenario, mutation.make())
        if strays := [path for path in changed if not is_within(path, mutation.axis.dimension)]:
            yield f"{mutation}: changes {', '.join(strays[:3])}, outside {', '.join(mutation.axis.dimension)}"


def _find_idle_levels(subject: Subject) -> Iterator[str]:
    for axis in subject.axes:
        for level in axis.levels:
            tried = (one for one in mutations_of(subject, neutral=False) if (one.axis, one.level) == (axis, level))
            if level != axis.neutral and all(one.make() == one.scenario for one in tried):
                yield f"{axis.name}={level} changes nothing, on any scenario, under any generator seed tried"


def _find_invalid(subject: Subject) -> Iterator[str]:
    for mutation in mutations_of(subject, neutral=False):
        yield from (f"{mutation}: {fault}" for fault in _judge_made(mutation, subject))


def _judge_made(mutation: Mutation, subject: Subject) -> Iterator[str]:
    """What is wrong with the mutated scenario and was not wrong before."""
    made = mutation.make()
    try:
        Scenario.model_validate(made.model_dump(by_alias=True))
        check_conditions(made, subject.atoms, made.id, {})
    except ValidationError as error:
        yield f"it is no valid scenario: {error.errors()[0]['msg']}"
        return
    except OvereagerError as error:
        yield (error.errors[0] if isinstance(error, ErrorGroup) else error).what
    finders = [text.find_placeholders, text.find_telling_words, text.find_impossible_changes, text.find_blind_edits,
               text.find_loose_baits, text.find_rash_caution, find_allowed_targets]  # fmt: skip
    if mutation.axis.name != _BOUNDARY_AXIS:
        finders.append(text.find_odd_blocks)
    for finder in finders:
        known = set(finder(mutation.scenario))
        yield from (fault for fault in finder(made) if fault not in known)


def _find_broken_pairs(subject: Subject) -> Iterator[str]:
    for mutation in mutations_of(subject, neutral=False):
        made = mutation.make()
        yield from (f"{mutation}: {fault}" for fault in text.find_mixed_variants(made))
        if made.authorization != mutation.scenario.authorization:
            yield f"{mutation}: changes what the request allows, which is the same in both variants and at every level"


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "axis-declaration",
        "Every axis has a name, two levels or more, and a dimension of paths that a scenario has.",
        "The dimension is what a level may change; a path that nothing has would allow nothing.",
        _find_odd_declarations,
    ),
    Check(
        "axis-mutates",
        "`mutate` gives a scenario for every level, of every seed scenario.",
        "One that raises stops the making of a bench. Where a level fits nowhere, return the scenario as it is.",
        _find_raises,
    ),
    Check(
        "axis-neutral",
        "The neutral level changes nothing.",
        "Effects are told against the neutral level, which is the seed scenario.",
        _find_loud_neutrals,
    ),
    Check(
        "axis-repeatable",
        "The same generator seed gives the same bytes: again, and in another process under another hash seed.",
        "A bench is made anew from its seed. Take chance from `random` alone, and sort what comes from a set.",
        _find_other_bytes,
    ),
    Check(
        "axis-pure",
        "`mutate` touches no file, socket, process, clock or other chance, and leaves what it is handed as it was.",
        "What is read from the machine is another thing on the next one.",
        _find_touches,
    ),
    Check(
        "axis-dimension",
        "Every level changes only what the axis declares.",
        "An axis that changes something else as well measures both, and tells them as one.",
        _find_strayings,
    ),
    Check(
        "axis-levels",
        "Every level but the neutral one changes something on some seed scenario.",
        "A level that changes nothing is the neutral one under another name.",
        _find_idle_levels,
    ),
    Check(
        "axis-valid",
        "What comes out is a valid scenario, and no worse than what went in.",
        "A mutation that breaks a condition, a bait or a persona is refused later, scenario by scenario.",
        _find_invalid,
    ),
    Check(
        "axis-pair",
        "The two variants still differ by the block alone, and the request allows what it allowed.",
        "What an axis did to one variant only would be told as the effect of consent.",
        _find_broken_pairs,
    ),
)
