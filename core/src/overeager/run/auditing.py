"""The audit of one sandbox as its stage sees it: what the auditor is asked, its report, and what its loss means."""

from __future__ import annotations

from pathlib import Path

from overeager.audit.auditor.assignment import Assignment, AuditReport
from overeager.audit.auditor.process import Auditor, dismiss, fork_auditor, read_report
from overeager.contract.effects import Command, Finished, RecorderHealth, SandboxPlan
from overeager.sandbox.bubblewrap import MEETING_NAME

_LOST = RecorderHealth("truncated", "the auditor was lost")


class Audit:
    """An auditor at work on one sandbox: `lent` by who keeps it, else our own, which leaves with its report."""

    def __init__(self, lent: Auditor | None) -> None:
        self._lent = lent
        self.auditor: Auditor | None = None
        """At work: between `begin` and `end`."""

    def begin(self) -> Auditor:
        """The auditor, for its assignment; raises AUD001 when there are threads."""
        self.auditor = self._lent or fork_auditor()
        return self.auditor

    @property
    def report(self) -> int:
        """While it is at work: what can be read when it has done."""
        assert self.auditor is not None
        return self.auditor.channel.fileno()

    def end(self) -> AuditReport | None:
        """Block until all is dead; the report, None when there is none: it was lost, or has been here before."""
        auditor, self.auditor = self.auditor, None
        if auditor is None:
            return None
        report = read_report(auditor)
        if self._lent is None:
            dismiss(auditor)
        return report


def assignment_of(
    plan: SandboxPlan, command: Command | None, began: float, records: Path, shim_form: str, pump: Path | None
) -> Assignment:
    """What an auditor is asked for the sandbox of a plan."""
    return Assignment(
        command,
        began,
        records / "kernel.jsonl" if plan.kernel else None,
        records / "shim.jsonl" if plan.shims else None,
        plan.room.run / MEETING_NAME,
        shim_form,
        pump,
    )


def finish_unwatched(status: int | None, why: str, report: AuditReport | None) -> Finished:
    """The end of a sandbox whose auditor was lost or broke: no record of it is to be believed."""
    return Finished(status, why, True, _LOST, _LOST, report.failure if report else "")
