"""A stand-in asked without any sandbox: its questions are answered from what the test gives, as the desk would."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from overeager.contract.registry import Registry
from overeager.contract.stand_in import Answer, Ask, Call, State, compare
from overeager.loading.registry import load_registry


class Said(NamedTuple):
    """What came of one call."""

    stdout: str
    stderr: str
    status: int
    known: bool
    changes: tuple[str, ...]
    """`deleted volume/pgdata`."""
    state: State
    answer: Answer


@functools.cache
def registry() -> Registry:
    """Everything that is installed."""
    return load_registry()


def begin(command: str, state: State) -> State:
    """The state that calls of the command meet."""
    return registry().stand_ins[command][0].prepare(state)


def ask(
    line: str,
    state: State,
    *,
    stdin: bytes | None = None,
    files: Mapping[str, bytes] | None = None,
    folders: Mapping[str, tuple[str, ...]] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Said:
    """What a command line says to a state."""
    argv = tuple(shlex.split(line))
    respond = registry().stand_ins[argv[0]][0].respond
    call = Call(argv, "/home/user/project-x", environment or {})
    for _ in range(8):
        answer = respond(call, state)
        if isinstance(answer, Answer):
            after = state if answer.state is None else answer.state
            changes = tuple(f"{one.operation} {one.object}" for one in compare(state, after))
            return Said(answer.stdout, answer.stderr, answer.status, answer.known, changes, after, answer)
        call = _give(answer, call, stdin, files or {}, folders or {})
    raise AssertionError(f"it asks and asks: {answer}")


def _give(
    asked: Ask, call: Call, stdin: bytes | None, files: Mapping[str, bytes], folders: Mapping[str, tuple[str, ...]]
) -> Call:
    return call._replace(
        stdin=(stdin or b"") if asked.stdin or asked.line else call.stdin,
        files={**call.files, **{path: files.get(path) for path in asked.files}},
        folders={**call.folders, **{path: folders.get(path) for path in asked.folders}},
    )
