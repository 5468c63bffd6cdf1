"""Whether the shims met every call that they should have: a probe before the trials, a match after each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from overeager.contract.effects import RecorderHealth

_PLAIN_FORMS = {"sh -c": "sh -c '{call}'", "bash -c": "bash -c '{call}'", "bash -lc": "bash -lc '{call}'"}
_PATHLESS_FORMS = {"env -i": "env -i {call}", "absolute path": "/usr/bin/{call}"}
"""What PATH does not steer: a script's shim, which stands first in PATH, is not met so."""

_HARMLESS = "--version"
"""Each of our commands prints something or complains, and does nothing."""


class Call(NamedTuple):
    """A call of a shimmed command that must have left a record, as the shell grammar reads it."""

    tool_call: str
    command: str
    argv: tuple[str, ...] | None = None
    """As far as it is known literally, argv[0] included; None = known only to the shell."""
    proved: bool = True
    """The grammar proves that it was reached, and that no function, alias or builtin stood in between."""
    since: float | None = None
    """The tool call's window, on the records' clock; None = open."""
    until: float | None = None


class Seen(NamedTuple):
    """A record, reduced to what a call is matched by."""

    command: str
    argv: tuple[str, ...]
    time: float | None
    """None = the recorder has no clock; fits every window."""


class Coverage(NamedTuple):
    """What the match of calls with records came to."""

    health: RecorderHealth
    gaps: tuple[Call, ...]
    """Proved calls without a record: the channel is truncated."""
    unmatched: tuple[Call, ...]
    """Unproved ones: only what reads these commands cannot rely on the channel."""


def probe_calls(commands: Iterable[str], scripts: Collection[str] = (), bash: bool = True) -> tuple[Call, ...]:
    """The calls that `probe_script` makes: each command in each form that must meet its shim, marked by a number.

    `scripts` are the commands whose shim is only first in PATH; without `bash` its forms are left out.
    """
    calls: list[Call] = []
    for form in (*_PLAIN_FORMS, *_PATHLESS_FORMS):
        if form.startswith("bash") and not bash:
            continue
        for command in sorted(commands):
            if form in _PLAIN_FORMS or command not in scripts:
                calls.append(Call(form, command, (command, _HARMLESS, str(len(calls)))))
    return tuple(calls)


def short_probe_calls(commands: Iterable[str]) -> tuple[Call, ...]:
    """One call by `sh -c`, of the first of `commands` (the cheapest): the probe of every trial."""
    first = next(iter(commands), None)
    return () if first is None else (Call("sh -c", first, (first, _HARMLESS, "0")),)


def probe_script(calls: Sequence[Call]) -> str:
    """POSIX shell text that makes the calls of `probe_calls`, silently and at once; run it in an empty folder."""
    forms = {**_PLAIN_FORMS, **_PATHLESS_FORMS}
    lines = [forms[call.tool_call].format(call=" ".join(call.argv or ())) + " &" for call in calls]
    return "\n".join(["exec </dev/null >/dev/null 2>&1", *lines, "wait", "exit 0", ""])


def match(calls: Iterable[Call], seen: Iterable[Seen]) -> Coverage:
    """Pair each call with a record of its own: same command, same arguments where known, inside its window."""
    waiting = list(calls)
    records = sorted(seen, key=lambda record: record.time if record.time is not None else float("-inf"))
    # Calls that are known literally choose first, since they can take fewer records.
    records = _pair([call for call in waiting if call.argv is not None], waiting, records)
    _pair([call for call in waiting if call.argv is None], waiting, records)
    gaps = tuple(call for call in waiting if call.proved)
    unmatched = tuple(call for call in waiting if not call.proved)
    return Coverage(_health(gaps), gaps, unmatched)


def _pair(choosers: list[Call], waiting: list[Call], records: list[Seen]) -> list[Seen]:
    """Take matched calls off `waiting`, the window that closes first before others; gives the records that are left."""
    left = []
    for record in records:
        fitting = [call for call in choosers if _fits(call, record)]
        if not fitting:
            left.append(record)
            continue
        served = min(fitting, key=lambda call: call.until if call.until is not None else float("inf"))
        choosers.remove(served)
        waiting.remove(served)
    return left


def _fits(call: Call, record: Seen) -> bool:
    if call.command != record.command:
        return False
    # argv[0] is the caller's business: rm, /bin/rm, or what `exec -a` made of it.
    if call.argv is not None and _words(call.argv) != _words(record.argv):
        return False
    if record.time is None:
        return True
    return (call.since is None or call.since <= record.time) and (call.until is None or record.time <= call.until)


def _words(argv: Sequence[str]) -> list[str]:
    """The arguments but for a lone `-`, which the grammar loses where a here-document follows it."""
    return [word for word in argv[1:] if word != "-"]


def _health(gaps: tuple[Call, ...]) -> RecorderHealth:
    if not gaps:
        return RecorderHealth("present", "")
    named = ", ".join(sorted({f"{call.command} ({call.tool_call})" for call in gaps}))
    return RecorderHealth("truncated", f"calls without a record: {named}")
