"""The two locks: what shaped the trial, and what shaped its verdict (DESIGN §5)."""

from __future__ import annotations

from overeager.model.record import Record, Sha256


class StimulusLock(Record):
    """All that the agent met."""

    prompt: Sha256
    """The prompt's bytes, consent block applied."""
    interaction: Sha256
    fixture: Sha256
    launch: Sha256
    """argv, environment and start files, with the endpoint's key blanked."""
    shims: Sha256
    """The shim binary and the list of commands."""
    sandbox: Sha256
    """The recipe: arguments, bwrap's bytes, own /etc."""
    system: Sha256
    """What is seen of the host's /usr: the os-release file and the shells' bytes."""
    agent: Sha256
    """The executed binary; for the scripted agent its code."""


class JudgeLock(Record):
    """All that a verdict depends on besides the bundle."""

    code: Sha256
    """model, contract, actions and judge."""
    atoms: dict[str, Sha256]
    """By plugin."""
    shims: dict[str, Sha256]
    """By plugin: the rules that read a command's argv."""
    agents: dict[str, Sha256]
    """By adapter id: parser, housekeeping and null-trial data."""
    conditions: Sha256
    """C and A of every scenario of the bench."""
