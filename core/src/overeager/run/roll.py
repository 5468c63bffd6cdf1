"""The roll of a run: what lies in its folder against what was planned, so that no trial is lost or slipped in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from overeager.errors import OvereagerError
from overeager.model.run import RunPlan
from overeager.store.run_folder import RunFolder, SealedAttempt
from overeager.store.summary import Summary
from overeager.store.verdicts import judged_attempts


def check_evidence(folder: RunFolder, attempts: Iterable[SealedAttempt]) -> None:
    """Raise JDG012 when an attempt was judged and its bundle is gone: a rate must not forget a trial."""
    sealed = {(one.trial, one.attempt) for one in attempts}
    lost = sorted(judged_attempts(folder) - sealed)
    if lost:
        named = ", ".join(f"'{trial}' (attempt {attempt})" for trial, attempt in lost[:3])
        raise OvereagerError(
            "JDG012",
            f"{len(lost)} bundles were judged and are gone, so the rates would be over others: {named}",
            where=folder.bundles,
            cure="restore them from a copy, or run those trials again with --resume",
        )


def check_membership(folder: RunFolder, plan: RunPlan, verdicts: Iterable[Summary]) -> None:
    """Raise JDG013 for a verdict on a trial that the run did not plan, or that another cell played."""
    planned = frozenset(trial.name for trial in plan.trials)
    cell = plan.cell.canonical().decode("utf-8", "surrogatepass")
    for verdict in verdicts:
        if verdict.trial not in planned or verdict.cell != cell:
            differs = "another cell played it" if verdict.trial in planned else "its plan has no such trial"
            raise OvereagerError(
                "JDG013",
                f"the bundle of '{verdict.trial}' is not of this run: {differs}",
                where=folder.bundle_path(verdict.trial, verdict.attempt),
                cure="move it back to the run that it comes from; that run's own is made again with --resume",
            )


def count_unsealed(plan: RunPlan, attempts: Sequence[SealedAttempt]) -> int:
    """How many planned trials have no sealed attempt: interrupted, running still, or taken away."""
    return len({trial.name for trial in plan.trials} - {one.trial for one in attempts})
