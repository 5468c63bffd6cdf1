"""From an argv to the verb that answers it; what no verb knows is a miss with the program's own kind of complaint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from overeager.builtin.commands.arguments import Arguments, take_apart
from overeager.contract.stand_in import Answer, Ask, Call, State


class Request(NamedTuple):
    """A call, taken apart by its verb."""

    call: Call
    state: State
    verb: str
    given: Arguments
    """What stands behind the verb."""
    options: Arguments
    """What stands before it."""

    @property
    def operands(self) -> tuple[str, ...]:
        """The words that are no options."""
        return self.given.operands

    def has(self, *names: str) -> bool:
        """Whether one of the options was given, before the verb or behind it; `--x=false` takes it back."""
        if any(self.value(name) in ("false", "0") for name in names):
            return False
        return self.given.has(*names) or self.options.has(*names)

    def value(self, *names: str) -> str | None:
        """The last value given to one of the options."""
        return self.given.value(*names) or self.options.value(*names)

    def all_values(self, *names: str) -> tuple[str, ...]:
        """Every value given to one of the options."""
        return self.options.all_values(*names) + self.given.all_values(*names)


Act = Callable[[Request], Answer | Ask]


class Verb(NamedTuple):
    """One thing that a program can be told to do."""

    words: str
    """By which it is named: `volume rm`."""
    act: Act
    valued: str = ""
    """Its options with a value."""
    plain: str = ""
    """Its options without."""
    mixed: bool = True
    """False = options end at the first operand."""


class Program(NamedTuple):
    """A command with verbs."""

    name: str
    verbs: Mapping[str, Verb]
    valued: frozenset[str]
    """Options with a value that may stand before the verb."""
    plain: frozenset[str]
    """Options without."""
    usage: str
    """What is printed for `--help`, or where no verb is given."""
    unknown: str
    """The complaint about a verb that there is none; `{verb}` stands for it."""
    long_dash: bool = False
    """True = long options have one dash."""


def make_program(
    name: str,
    verbs: Sequence[Verb],
    *,
    valued: str = "",
    plain: str = "",
    usage: str,
    unknown: str,
    long_dash: bool = False,
) -> Program:
    """A program of these verbs."""
    by_words = {verb.words: verb for verb in verbs}
    return Program(name, by_words, frozenset(valued.split()), frozenset(plain.split()), usage, unknown, long_dash)


def route(program: Program, call: Call, state: State) -> Answer | Ask:
    """The answer of the verb that the call names."""
    words = _double_dashes(call.argv[1:]) if program.long_dash else call.argv[1:]
    options = take_apart(words, program.valued, mixed=False)
    strange = _strange(options, program.valued, program.plain)
    rest = options.operands
    if not rest:
        known = not strange or options.has("--help", "-h")
        return Answer(program.usage, status=0 if options.has("--help", "-h") else 1, known=known)
    verb = _find_verb(program.verbs, rest)
    if verb is None or (strange and not options.has("--help", "-h")):
        named = strange or rest[0]
        return Answer(stderr=program.unknown.format(verb=named), status=1, known=False)
    return _run(program, verb, call, state, options._replace(operands=()), rest[len(verb.words.split()) :])


def _run(
    program: Program, verb: Verb, call: Call, state: State, options: Arguments, words: Sequence[str]
) -> Answer | Ask:
    valued = frozenset(verb.valued.split()) | (program.valued if verb.mixed else frozenset())
    plain = frozenset(verb.plain.split()) | program.plain
    given = take_apart(words, valued, mixed=verb.mixed)
    if given.has("--help") or options.has("--help"):
        return Answer(f"Usage:  {program.name} {verb.words} [OPTIONS]\n")
    if strange := _strange(given, valued, plain):
        text = f"unknown flag: {strange}\nSee '{program.name} {verb.words} --help'.\n"
        return Answer(stderr=text, status=1, known=False)
    return verb.act(Request(call, state, verb.words, given, options))


def _find_verb(verbs: Mapping[str, Verb], words: Sequence[str]) -> Verb | None:
    for size in range(min(4, len(words)), 0, -1):
        found = verbs.get(" ".join(words[:size]))
        if found is not None:
            return found
    return None


def _strange(given: Arguments, valued: frozenset[str], plain: frozenset[str]) -> str:
    """The first option that nobody knows; empty = none. A number (`-20`) is given as one."""
    for name in given.flags:
        if name not in plain and name not in ("--help", "-h") and not name[1:].isdigit():
            return name
    return next((name for name, _ in given.values if name not in valued and name not in plain), "")


def _double_dashes(words: Sequence[str]) -> tuple[str, ...]:
    """`-auto-approve` as `--auto-approve`."""
    single = (word.startswith("-") and not word.startswith("--") and len(word.partition("=")[0]) > 2 for word in words)
    return tuple(f"-{word}" if one else word for word, one in zip(words, single, strict=True))
