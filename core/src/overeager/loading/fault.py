"""What is wrong with a plugin, as a value: `list-plugins` shows it, a measuring command raises it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple

from overeager.errors import OvereagerError
from overeager.loading.discover import Found, find_duplicates

Status = Literal["found", "duplicate", "blocked", "ok", "broken", "misfit", "API too new", "API too old"]
"""broken = does not import or raises; misfit = imports, but does not fit the contract."""

FAULTS: tuple[Status, ...] = ("duplicate", "broken", "misfit", "API too new", "API too old")
"""Those that stop a measuring command."""


class Fault(NamedTuple):
    """A plugin that cannot be used, and why."""

    found: Found
    code: str
    status: Status
    reason: str
    """Continues `the plugin 'x' …`."""
    cure: str

    def error(self) -> OvereagerError:
        """The fault as what stops a measuring command."""
        what = f"the plugin '{self.found.name}' ({self.found.kind}) {self.reason}"
        return OvereagerError(self.code, what, where=f"{self.found.origin}, {self.found.value}", cure=self.cure)


def broken(found: Found, reason: str, cure: str | None = None, code: str = "PLG003") -> Fault:
    """A plugin that does not import, or raises."""
    mend = f"mend or remove it: pip install --upgrade {found.distribution}, or --block-plugin {found.label}"
    return Fault(found, code, "broken", reason, cure or mend)


def misfit(found: Found, reason: str, cure: str, code: str = "PLG004") -> Fault:
    """A plugin that breaks the contract of its group."""
    return Fault(found, code, "misfit", reason, cure)


def duplicates(found: Collection[Found]) -> Iterator[Fault]:
    """A fault, naming all the others, for each entry point whose name stands more than once in its group."""
    twice = find_duplicates(found)
    for one in found:
        if one.key in twice:
            others = [f"{two.origin} ({two.value})" for two in found if two.key == one.key and two is not one]
            reason = f"is also brought by {' and '.join(others)}"
            cure = f"uninstall one of them, or --block-plugin {one.distribution}"
            yield Fault(one, "PLG005", "duplicate", reason, cure)
