"""What adapters have in common: streams of JSON lines, and the methods of agents that lack a model or a dialogue."""

from __future__ import annotations

from overeager.agentkit.bases import ModellessAgent, OneWayAgent
from overeager.agentkit.lines import Line, object_of, objects_of, read_lines, text_of

__all__ = ["Line", "ModellessAgent", "OneWayAgent", "object_of", "objects_of", "read_lines", "text_of"]
