"""Reading rules: the table, the author's cases, odd calls, and that a rule is a function of its arguments."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from overeager.conformance.check import Check
from overeager.conformance.elsewhere import ask_elsewhere
from overeager.conformance.shims.cases import (
    CWD,
    FILE,
    read_cases,
    tell,
)
from overeager.conformance.shims.oddities import long_call, odd_calls, short
from overeager.conformance.shims.subject import Subject
from overeager.conformance.watching import watch
from overeager.contract.shim import Nested, Reading, ShimRule
from overeager.errors import OvereagerError, near_miss
from overeager.loading.registry import load_registry
from overeager.model.action import Target
from overeager.model.vocabulary import KINDS


def _find_odd_tables(subject: Subject) -> Iterator[str]:
    if not subject.sets:
        yield "the plugin offers no set"
    for one in subject.sets:
        if not one.rules and not one.stand_ins:
            yield f"the set '{one.name}' names no command"
    for command in [*(rule.command for rule in subject.rules), *(one.command for one in subject.stand_ins)]:
        if not command or "/" in command or command != command.strip():
            yield f"{command!r} is no bare name of a command"
    for rule in subject.rules:
        for example in rule.examples:
            if example[:1] != (rule.command,):
                yield f"{rule.command}: the example {shlex.join(example)!r} is a call of something else"


def _find_missing_cases(subject: Subject) -> Iterator[str]:
    try:
        cases = read_cases(subject.package)
    except OvereagerError as error:
        yield str(error)
        return
    if cases is None:
        yield f"there is no {FILE} in {subject.package}: write `readings` for each command, and `stand_ins`"
        return
    rules = {rule.command: rule for rule in subject.rules}
    shown = {shlex.split(case.run)[0] for case in cases.readings}
    yield from (f"{command} has no case under `readings` in {FILE}" for command in rules if command not in shown)
    for command in sorted(shown - rules.keys()):
        yield f"{FILE} reads '{command}', for which there is no rule; {near_miss(command, rules) or ''}".rstrip("; ")
    for case in cases.readings:
        argv = tuple(shlex.split(case.run))
        if argv[0] in rules and (reads := tell(rules[argv[0]].read(argv, case.cwd), case.cwd)) != case.reads:
            yield f"`{case.run}` reads as {list(reads)} where the case says {list(case.reads)}"


def _find_raising_rules(subject: Subject) -> Iterator[str]:
    for rule in subject.rules:
        for argv, cwd in (*odd_calls(rule.command, rule.examples), long_call(rule.command)):
            try:
                readings = rule.read(argv, cwd)
            except Exception as error:  # noqa: BLE001 - what a rule raises is the fault that is looked for
                yield f"{rule.command} raises {type(error).__name__} at {short(argv)}: {error}"
                break
            if faults := list(_find_misreadings(readings)):
                yield f"{rule.command} at {short(argv)}: {faults[0]}"
                break


def _find_misreadings(readings: object) -> Iterator[str]:
    if not isinstance(readings, tuple):
        yield f"it gives {type(readings).__name__}, no tuple"
        return
    for one in readings:
        if isinstance(one, Nested):
            if bool(one.argv) == (one.text is not None):
                yield "a nested command has an argv or a text, one of them"
        elif not isinstance(one, Reading):
            yield f"it gives {type(one).__name__}, neither Reading nor Nested"
        elif one.kind not in KINDS:
            yield f"there is no kind {one.kind!r}"
        else:
            yield from _find_odd_targets(one.targets)


def _find_odd_targets(targets: Sequence[Target]) -> Iterator[str]:
    for target in targets:
        if target.type == "path" and (not target.value.startswith(("/", "~")) or "/../" in target.value):
            yield f"the path {target.value[:60]!r} is neither absolute nor below `~/`"


def _find_impurity(subject: Subject) -> Iterator[str]:
    for rule in subject.rules:
        calls = _calls_of(rule)
        for touched in watch(lambda rule=rule, calls=calls: _read_quietly(rule, calls)):  # type: ignore[misc]
            yield f"{rule.command} touches {touched}"


def _read_quietly(rule: ShimRule, calls: Sequence[tuple[tuple[str, ...], str]]) -> list[str]:
    """What each call reads as; one that raises is shim-odd's to tell."""
    told = []
    for argv, cwd in calls:
        try:
            told.append(repr(rule.read(argv, cwd)))
        except Exception as error:  # noqa: BLE001 - see above
            told.append(repr(error))
    return told


def _find_other_readings(subject: Subject) -> Iterator[str]:
    asked = {rule.command: _calls_of(rule) for rule in subject.rules}
    first = {rule.command: _read_quietly(rule, asked[rule.command]) for rule in subject.rules}
    again = {rule.command: _read_quietly(rule, asked[rule.command]) for rule in subject.rules}
    there = [ask_elsewhere(f"{__name__}:read_question", tuple(asked), seed) for seed in (1, 2)]
    for how, told in (("asked again", again), *((f"under hash seed {n}", one) for n, one in enumerate(there, start=1))):
        for command in asked:
            for call, before, after in zip(asked[command], first[command], told[command], strict=True):
                if before != after:
                    yield f"{command} at {short(call[0])} reads otherwise {how}: {after[:80]}"


def read_question(commands: tuple[str, ...]) -> dict[str, list[str]]:
    """What another process asks: how the calls of `commands` read here."""
    rules = load_registry(("overeager.shims",), hard=False).shims
    return {name: _read_quietly(rules[name][0], _calls_of(rules[name][0])) for name in commands}


def _calls_of(rule: ShimRule) -> list[tuple[tuple[str, ...], str]]:
    return [*((call, CWD) for call in rule.examples), *odd_calls(rule.command, rule.examples, 80)]


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "shim-table",
        "Every command is a bare name, and every example a call of its command.",
        "A shim is found by the file's name; a path or a typing error stands before nothing.",
        _find_odd_tables,
    ),
    Check(
        "shim-cases",
        "Every command has cases, and reads as they say.",
        f"An atom sees readings, never argv. Cases lie in `{FILE}` beside the set: `run: rm -rf build`, "
        "`reads: [maybe delete build/]`.",
        _find_missing_cases,
    ),
    Check(
        "shim-odd",
        "`read` never raises, whatever the arguments, and gives readings of known kinds with absolute paths.",
        "Agents call commands in every way; one that raises leaves a bundle without a verdict.",
        _find_raising_rules,
    ),
    Check(
        "shim-pure",
        "A rule touches no file, socket, process, clock or chance.",
        "A bundle is read on other machines, years later. What is read from a file then is not what was there.",
        _find_impurity,
    ),
    Check(
        "shim-repeatable",
        "The same call reads the same: again, and in another process under another hash seed.",
        "Verdicts are compared byte by byte. Sort what comes from a set.",
        _find_other_readings,
    ),
)
