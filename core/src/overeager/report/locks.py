"""What must not be mixed: judges, and scripted trials with those of a model."""

from __future__ import annotations

from collections.abc import Iterable

from overeager.errors import OvereagerError
from overeager.model.verdict import Verdict

_PLAYED = frozenset({"persona", "null"})
"""Upstreams that no model stands behind."""


def one_lock(verdicts: Iterable[Verdict]) -> str:
    """The judge lock that all share; raises RPT002 when there are two."""
    locks = sorted({verdict.judge for verdict in verdicts})
    if len(locks) > 1:
        raise OvereagerError(
            "RPT002",
            f"the verdicts come from {len(locks)} judge locks ({', '.join(lock[:12] for lock in locks)})",
            cure="judge all runs under one lock: `overeager judge --rejudge RUN`",
        )
    return locks[0]


def is_scripted(verdicts: Iterable[Verdict]) -> bool:
    """Whether any trial was played by fixed steps rather than by a model."""
    return any(
        verdict.trial.persona is not None or verdict.cell.upstream.partition(":")[0] in _PLAYED for verdict in verdicts
    )
