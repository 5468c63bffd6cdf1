"""What the kernel channel must bear out before a stand-in's record or a program's name counts.

Whatever runs inside can send a record to where stand-ins report, and can call its own program `rm`. So a record counts
only when the kernel saw its sender start that very program with those very words; and what a program's words stand for
was done only when some call on that place was seen. Both only add up what is there: a kernel record less makes neither
true.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.actions.calls import real_paths
from overeager.actions.lines import Line, number_of, text_of, texts_of, time_of
from overeager.actions.paths import below, is_wild
from overeager.actions.read import bare_name
from overeager.actions.seen import Seen, change
from overeager.model.action import Action, Target
from overeager.model.vocabulary import Kind

FORGED = "its sender had not started that program"

_PROGRAMS = ("/usr/bin/", "/usr/sbin/", "/usr/local/", "/bin/", "/sbin/")
"""Where stand-ins stand, and behind them the real programs; nobody inside can write there."""

_CHANGES: frozenset[Kind] = frozenset({"create", "write", "edit", "delete", "move", "link", "mode", "unknown"})
_AUDITED: Mapping[Kind, frozenset[Kind]] = {
    "read": frozenset({"read"}),
    **dict.fromkeys(_CHANGES - {"unknown"}, _CHANGES),
}
"""Kinds that no program can do without a call that is audited, and the kinds of such calls."""

_UNSEEN = ("/usr/", "/lib", "/bin/", "/sbin/", "/etc/", "/proc/", "/sys/", "/dev/", "/run/")
"""Places whose reading is not kept as an action."""


class _Image(NamedTuple):
    """What a process became, by the kernel's word."""

    time: float
    path: str
    names: frozenset[str]
    """Of its file, and of the link by which it was called: `python3` is python3.11, `pkill` is pgrep."""
    argv: tuple[str, ...]
    cut: bool


def vouch(shims: Sequence[Line], kernel: Sequence[Line], whole: bool) -> list[Line]:
    """The records of shims; those that the kernel channel belies are kept as what they are, text that somebody sent.

    `whole` = the kernel channel is there and has lost nothing. Where it is not, only the end of a sender that was seen
    without a fitting start belies a record; what is left has no known outcome.
    """
    images, ended = _images(kernel)
    return [_judge(line, images, ended, whole) for line in shims]


def _judge(line: Line, images: Mapping[int, list[_Image]], ended: Mapping[int, float], whole: bool) -> Line:
    record = line.record
    pid, time = number_of(record, "pid"), time_of(record)
    if not pid or time is None or not record.get("argv"):
        return line
    own = images.get(pid, [])
    at = bisect_right(own, time, key=lambda image: image.time)
    if any(_is_told_by(image, line) for image in own[max(at - 1, 0) : at + 1]):
        return line
    if not whole and not time < ended.get(pid, -1.0):
        return line
    return line._replace(record={"t": time, "pid": pid, "raw": FORGED})


def _is_told_by(image: _Image, line: Line) -> bool:
    record = line.record
    told, command = texts_of(record, "argv") or (), text_of(record, "command") or ""
    if not image.path.startswith(_PROGRAMS) or bare_name(command) not in image.names:
        return False
    if image.cut or record.get("cut"):
        size = min(len(told), len(image.argv)) - 1
        return told[1:size] == image.argv[1:size]
    return told[1:] == image.argv[1:]


def _images(kernel: Sequence[Line]) -> tuple[dict[int, list[_Image]], dict[int, float]]:
    """By pid, in order: what it became, and the time of its last end."""
    images: dict[int, list[_Image]] = {}
    ended: dict[int, float] = {}
    for line in kernel:
        pid, time = number_of(line.record, "pid"), time_of(line.record)
        if pid is None or time is None:
            continue
        argv, paths = texts_of(line.record, "argv"), real_paths(line.record)
        if argv and paths and line.record.get("found") is not False:
            names = frozenset(map(bare_name, (paths[0], *(texts_of(line.record, "given") or ()))))
            images.setdefault(pid, []).append(_Image(time, paths[0], names, argv, bool(line.record.get("cut"))))
        elif text_of(line.record, "call") == "exit_group":
            ended[pid] = time
    return images, ended


def corroborate(seen: Sequence[Seen]) -> list[Seen]:
    """What shims and the kernel saw, where a program's words count as done only with a call that can have done it."""
    calls: dict[Kind, set[str]] = {}
    for one in seen:
        action = one.action
        if action.channel == "kernel" and action.argv is None and action.state != "failed":
            calls.setdefault(action.kind, set()).update(target.value.rstrip("/") for target in action.targets)
    return [_settle(one, calls) for one in seen]


def _settle(seen: Seen, calls: Mapping[Kind, set[str]]) -> Seen:
    action = seen.action
    if action.argv is None or action.state != "executed" or action.kind not in _AUDITED:
        return seen
    paths = [target for target in action.targets if target.type == "path"]
    if not paths or any(_is_done(target, action, calls) for target in paths):
        return seen
    return seen._replace(action=change(action, state="entered"))


def _is_done(target: Target, action: Action, calls: Mapping[Kind, set[str]]) -> bool:
    value = target.value.rstrip("/")
    if is_wild(value) or (action.kind == "read" and value.startswith(_UNSEEN)):
        return True
    tree = target.value.endswith("/")
    return any(
        value in places or (tree and any(below(place, value) for place in places))
        for kind in _AUDITED[action.kind]
        if (places := calls.get(kind))
    )
