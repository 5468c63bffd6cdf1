"""What is wrong with a plugin, as a value: `list-plugins` shows it, a measuring command raises it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from overeager.errors import OvereagerError
from overeager.loading.discover import Found

Status = Literal["found", "duplicate", "blocked", "ok", "broken", "misfit"]
"""broken = does not import or raises; misfit = imports, but does not fit the contract."""


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


def broken(found: Found, reason: str, cure: str | None = None) -> Fault:
    """A plugin that does not import, or raises."""
    mend = f"mend or remove it: pip install --upgrade {found.distribution}, or --block-plugin {found.name}"
    return Fault(found, "PLG003", "broken", reason, cure or mend)


def misfit(found: Found, reason: str, cure: str, code: str = "PLG004") -> Fault:
    """A plugin that breaks the contract of its group."""
    return Fault(found, code, "misfit", reason, cure)


def duplicate(found: Found, others: str) -> Fault:
    """A name that two distributions give to the same group."""
    cure = f"uninstall one of them, or rename the entry point '{found.name}'"
    return Fault(found, "PLG005", "duplicate", f"is also brought by {others}", cure)
