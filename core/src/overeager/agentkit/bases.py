"""The methods of `AgentAdapter` that mean nothing for an agent, said once."""

from __future__ import annotations

from collections.abc import Collection

from overeager.contract.agent import Classified, JsonObject, Reply, Task, ToolUse
from overeager.model.persona import Step


class OneWayAgent:
    """The base of an adapter whose agent reads nothing from stdin while it runs."""

    def greet(self, task: Task) -> tuple[bytes, ...]:
        """Nothing opens a session."""
        return ()

    def converse(self, line: bytes, state: JsonObject, answer: bool) -> Reply:
        """No line is answered."""
        return Reply((), state)


class ModellessAgent(OneWayAgent):
    """The base of an adapter whose agent speaks to no model (`wire_api` is None)."""

    def encode(self, step: Step, offered_tools: Collection[str], workspace: str, home: str) -> ToolUse | None:
        """No tool call: there is no model that could make one."""
        return None

    def classify(self, request: JsonObject) -> Classified:
        """Whatever comes belongs to the one conversation."""
        return Classified("main", "main")
