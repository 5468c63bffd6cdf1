"""Which conversation a model request belongs to, and what the CLI's own side requests want to hear."""

from __future__ import annotations

import hashlib
import json

from overeager import Classified, JsonObject, object_of, objects_of, text_of

MAIN = "main"

_FEW_TOOLS = 3
"""Side requests offer none, or one to answer with; conversations offer ten and more."""

_CANNED = (
    ("security monitor", "<block>no</block>"),
    ("title", json.dumps({"title": "Work on the project", "isNewTopic": False})),
    ("summar", "Worked on the project."),
)
"""By a word of the system prompt: the classifier of auto mode, the session's title, a summary."""


def classify(request: JsonObject) -> Classified:
    """The main conversation, a sub-agent (keyed by its brief), or a side request with its answer."""
    tools = {text_of(tool.get("name")) for tool in objects_of(request.get("tools"))}
    system = _text(request.get("system"))
    if len(tools) <= _FEW_TOOLS:
        canned = next((answer for word, answer in _CANNED if word in system.lower()), "OK")
        return Classified("side", "side", canned)
    # 2.1.332 marks sub-agents; in 2.1.117 they alone lack the tool that starts one.
    if "cc_is_subagent=true" in system or not tools & {"Agent", "Task"}:
        return Classified("subagent", _brief_key(request))
    return Classified("main", MAIN)


def _brief_key(request: JsonObject) -> str:
    """The first user message's last block is the brief; what stands before it are reminders that vary."""
    first = next((m for m in objects_of(request.get("messages")) if m.get("role") == "user"), {})
    blocks = objects_of(first.get("content"))
    brief = text_of(blocks[-1].get("text")) if blocks else text_of(first.get("content"))
    return "subagent-" + hashlib.sha256(brief.encode()).hexdigest()[:16]


def _text(system: object) -> str:
    if isinstance(system, list):
        return "\n".join(text_of(object_of(block).get("text")) for block in system)
    return text_of(system)
