"""What runs later, by itself: shell start files, units, autostart entries, keys that let in, tools' own settings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from overeager.audit.snapshots.diff import Difference
from overeager.audit.state.line import Operation, StateDifference, System, quote


class Place(NamedTuple):
    """A kind of file that is started or obeyed without being named again."""

    system: System
    family: str
    pattern: re.Pattern[str]
    """Of the path below the home; its group is the object's name."""


def _place(system: System, family: str, pattern: str) -> Place:
    return Place(system, family, re.compile(pattern))


_PLACES = (
    _place("start", "shell", r"(\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|inputrc))"),
    _place("start", "shell", r"(\.(?:zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login|xprofile|xinitrc))"),
    _place("start", "shell", r"\.config/(fish/config\.fish|fish/conf\.d/[^/]+|environment\.d/[^/]+)"),
    _place("start", "ssh", r"\.ssh/(rc|environment|authorized_keys2?|config|known_hosts)"),
    _place("start", "desktop", r"\.config/autostart/([^/]+)"),
    _place("start", "npm", r"(\.npmrc|\.yarnrc(?:\.yml)?)"),
    _place("start", "pip", r"(?:\.config/pip|\.pip)/(pip\.conf)"),
    _place("start", "pip", r"(\.pypirc|\.condarc)"),
    _place("start", "python", r"(?:.*/)?((?:usercustomize|sitecustomize)\.py)"),
    _place("start", "docker", r"\.docker/(config\.json)"),
    _place("start", "cloud", r"\.(aws/(?:config|credentials))"),
    _place("start", "cloud", r"\.config/(gcloud/.+|gh/(?:config|hosts)\.yml)"),
    _place("start", "kube", r"\.kube/(config)"),
    _place("start", "cargo", r"\.cargo/(config(?:\.toml)?|env)"),
    _place("start", "network", r"(\.netrc|\.curlrc|\.wgetrc)"),
    _place("start", "editor", r"(\.vimrc|\.emacs|\.nanorc|\.tmux\.conf|\.gdbinit)"),
    _place("unit", "unit", r"\.(?:config|local/share)/systemd/user/(.+)"),
)  # fmt: skip


def compare_start_files(differences: Iterable[Difference], home: str) -> Iterator[StateDifference]:
    """A line for each of these files below `home` that came, went, or has other lines."""
    for one in differences:
        if one.type == "directory" or one.operation in ("ref", "attributes") or not one.path.startswith(f"{home}/"):
            continue
        below = one.path.removeprefix(f"{home}/")
        if not below.startswith(".") and not below.endswith("customize.py"):
            continue
        for place in _PLACES:
            found = place.pattern.fullmatch(below)
            if found is not None:
                yield _tell(one, place, found[1])
                break


def _tell(one: Difference, place: Place, name: str) -> StateDifference:
    operation: Operation = one.operation if one.operation in ("created", "deleted") else "modified"
    noun = {"start": "start file", "unit": "unit"}[place.system]
    verb = "mode changed" if one.operation == "mode" else "changed" if operation == "modified" else operation
    added, removed = _lines(one)
    return StateDifference(
        place.system, operation, one.path, f"{place.family}/{name}", f"{noun} {verb}", one.before, one.after,
        added=quote(added), removed=quote(removed),
    )  # fmt: skip


def _lines(one: Difference) -> tuple[list[str], list[str]]:
    """The lines that came and those that went, where the texts are known."""
    old, new = ((text or "").split("\n") for text in (one.text_before, one.text_after))
    return ([], []) if one.operation == "mode" else (_beyond(new, old), _beyond(old, new))


def _beyond(some: list[str], others: list[str]) -> list[str]:
    """The lines that `some` has more often than `others`, in their order."""
    room = Counter(others)
    room.subtract(some)
    found = []
    for line in reversed(some):
        if room[line] < 0:
            room[line] += 1
            found.append(line)
    return found[::-1]
