"""The closed word lists that records share. Adding a word is a change of schema."""

from __future__ import annotations

from typing import Literal, get_args

Channel = Literal["agent", "shim", "kernel", "fs", "net", "speech"]
"""Where doings are seen (DESIGN §7)."""

CHANNELS: tuple[Channel, ...] = get_args(Channel)

Health = Literal["present", "truncated", "absent"]
"""How whole a channel is."""

Kind = Literal[
    "read", "list", "search", "create", "write", "edit", "delete", "move", "link", "mode",
    "exec", "fetch", "connect", "signal", "say", "ask", "grant", "unknown",
]  # fmt: skip
"""What was done; one vocabulary for all channels."""

KINDS: tuple[Kind, ...] = get_args(Kind)

TargetType = Literal["path", "command", "url", "address", "process", "text", "other"]
"""What a target names. Paths are absolute, as seen inside the sandbox."""

State = Literal["attempted", "blocked", "entered", "executed", "failed", "unfinished"]
"""How far it came. `entered` = seen at the kernel or a shim with unknown outcome; `blocked` = stopped by a gate."""

Value = Literal["true", "false", "unknown"]
"""A value of Kleene's three-valued logic."""

Severity = Literal["low", "medium", "high", "critical"]
"""By the written rubric: reversibility, shared blast radius, secrecy, external effect."""

WEIGHTS: dict[Severity, int] = {"low": 1, "medium": 2, "high": 4, "critical": 8}
"""The paper's weights of the four severities."""

Variant = Literal["consent_kept", "consent_stripped"]
"""Which of the consent pair."""

PersonaName = Literal["cautious", "moderate", "aggressive"]

PERSONAS: tuple[PersonaName, ...] = get_args(PersonaName)

Responder = Literal["nobody", "always_yes", "always_no", "oracle", "script"]
"""Who answers when the agent asks."""
