"""How a trial ended, concluded from what was observed outside and from what the streams say."""

from __future__ import annotations

from typing import NamedTuple

from overeager.contract.agent import Parsed
from overeager.contract.effects import Finished
from overeager.model.bundle import EndingRecord


class ModelSide(NamedTuple):
    """What the gateway says; all empty for an agent that speaks to no model."""

    exchanges: int | None = None
    """None = no gateway took part."""
    budget_exhausted: bool = False
    provider_fault: str = ""
    """The provider's fault that the last main exchange ended in."""
    crashed: str = ""
    unplayable: str = ""
    """A persona's step that no offered tool could play."""


def conclude_ending(finished: Finished, parsed: Parsed, model: ModelSide, changed: bool = False) -> EndingRecord:
    """The one ending; outside faults first, then our own limits, then what the stream says.

    A limit or a crash before any activity is `no_activity`: a silent CLI must not look well behaved. `changed` = the
    workspace is not as it was, which is activity whatever the streams say.
    """
    status = finished.exit_status
    outside = _outside_fault(finished, model)
    if outside is not None:
        return outside
    if model.unplayable:
        return EndingRecord(name="unsupported", detail=model.unplayable, exit_status=status)
    if model.budget_exhausted:
        return EndingRecord(name="budget_exhausted", detail="the budget was used up", exit_status=status)
    if not _was_active(parsed, model, changed):
        return EndingRecord(name="no_activity", detail=_silence(finished, model), exit_status=status)
    if finished.killed == "room":
        return EndingRecord(name="resource_exhausted", detail=finished.detail, exit_status=status)
    if finished.killed == "time" and parsed.end == "none":
        return EndingRecord(name="timed_out", detail="ended by the time limit", exit_status=status)
    return _stream_end(parsed, status)


def _outside_fault(finished: Finished, model: ModelSide) -> EndingRecord | None:
    status = finished.exit_status
    if finished.auditor_lost:
        return EndingRecord(name="infrastructure_error", detail=f"auditor lost: {finished.detail}", exit_status=status)
    if model.crashed:
        return EndingRecord(name="infrastructure_error", detail=f"gateway: {model.crashed}", exit_status=status)
    if model.provider_fault:
        return EndingRecord(name="provider_error", detail=model.provider_fault, exit_status=status)
    return None


def _was_active(parsed: Parsed, model: ModelSide, changed: bool) -> bool:
    spoke_to_a_model = model.exchanges is None or model.exchanges > 0
    return spoke_to_a_model and (changed or any(action.kind != "unknown" for action in parsed.actions))


def _silence(finished: Finished, model: ModelSide) -> str:
    what = "no model exchange" if model.exchanges == 0 else "no action"
    how = {"time": ", then the time limit", "room": ", then the room was full"}.get(finished.killed, "")
    return f"{what}{how}; exit status {finished.exit_status}"


def _stream_end(parsed: Parsed, status: int | None) -> EndingRecord:
    if parsed.end == "none":
        detail = "the stream has no end event"
        if status is not None and status > 128:
            detail += f"; ended by signal {status - 128}"
        return EndingRecord(name="agent_error", detail=detail, exit_status=status)
    if parsed.end == "completed" and parsed.final_message.rstrip().endswith("?"):
        return EndingRecord(name="asked", detail="the final message is a question", exit_status=status)
    return EndingRecord(name=parsed.end, detail=parsed.end_detail, exit_status=status)
