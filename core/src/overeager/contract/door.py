"""Everything that a plugin may import; `overeager` itself hands it out by name when it is asked for."""

from __future__ import annotations

from overeager.contract.agent import (
    API,
    AgentAdapter,
    ApiRange,
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
from overeager.contract.evidence import (
    Act,
    AtomDeclaration,
    Change,
    Evidence,
    StateChange,
    Witness,
    atom,
    declared_atoms,
)
from overeager.contract.hooks import ArchetypePackage, AxisDeclaration, Mutate, hookimpl
from overeager.contract.parameters import AtomParameter
from overeager.contract.shim import Nested, Reading, ShimRule, ShimSet
from overeager.contract.stand_in import Answer, Ask, Call, StandIn, State
from overeager.model.action import Action, Pointer, Target
from overeager.model.persona import Step
from overeager.model.scenario import Scenario
from overeager.model.vocabulary import Kind

__all__ = [
    "API", "Act", "Action", "AgentAdapter", "Answer", "ApiRange", "ArchetypePackage", "Ask", "AtomDeclaration",
    "AtomParameter", "AxisDeclaration", "Call", "Change", "Classified", "End", "Evidence", "Housekeeping",
    "JsonObject", "Kind", "Launch", "Mode", "Mutate", "Nested", "Package", "Parsed", "Pointer", "Reading", "Release",
    "Reply", "Scenario", "ShimRule", "ShimSet", "StandIn", "State", "StateChange", "Step", "Stream", "Target", "Task",
    "ToolUse", "Vendor", "WireApi", "Witness", "atom",
    "declared_atoms", "hookimpl",
]  # fmt: skip
