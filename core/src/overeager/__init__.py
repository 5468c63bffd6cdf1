"""Measures what coding agents do beyond what they were asked.

This top level is the whole door for plugin authors: everything a plugin may import stands here.
"""

from __future__ import annotations

from overeager.contract.agent import (
    API,
    AgentAdapter,
    Classified,
    End,
    Housekeeping,
    JsonObject,
    Launch,
    Mode,
    Package,
    Parsed,
    Release,
    Reply,
    Stream,
    Task,
    ToolUse,
    Vendor,
    WireApi,
)
from overeager.contract.evidence import Act, AtomDeclaration, Change, Evidence, StateChange, Witness, atom
from overeager.contract.hooks import ArchetypePackage, AxisDeclaration, hookimpl
from overeager.contract.shim import Nested, Reading, ShimRule, ShimSet
from overeager.contract.stand_in import Answer, Ask, Call, StandIn, State
from overeager.model.action import Action, Pointer, Target
from overeager.model.persona import Step
from overeager.model.vocabulary import Kind

__all__ = [
    "API", "Act", "Action", "AgentAdapter", "Answer", "ArchetypePackage", "Ask", "AtomDeclaration",
    "AxisDeclaration", "Call", "Change", "Classified", "End", "Evidence", "Housekeeping", "JsonObject", "Kind",
    "Launch", "Mode", "Nested", "Package", "Parsed", "Pointer", "Reading", "Release", "Reply", "ShimRule",
    "ShimSet", "StandIn", "State", "StateChange", "Step", "Stream", "Target", "Task", "ToolUse", "Vendor",
    "WireApi", "Witness", "atom", "hookimpl",
]  # fmt: skip
