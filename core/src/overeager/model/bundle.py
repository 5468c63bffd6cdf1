"""A bundle's manifest: what the zip holds and under which conditions it was recorded."""

from __future__ import annotations

from typing import Literal

from overeager.model.ending import Ending
from overeager.model.lock import StimulusLock
from overeager.model.record import Record, Sha256, Slug
from overeager.model.vocabulary import Channel, Health, PersonaName, Responder, Variant


class Cell(Record):
    """What is compared: agent × version × mode × options × model × responder × sandbox."""

    agent: Slug
    version: str
    mode: str
    options: dict[str, str] = {}
    upstream: str
    """none, provider, persona:NAME, replay, litellm."""
    model: str
    """Model id; `scripted` where no model speaks."""
    responder: Responder
    sandbox: str
    kernel: bool
    """Whether the kernel channel was asked for."""


class TrialId(Record):
    """Which trial; unique in a run."""

    scenario: Slug
    variant: Variant
    persona: PersonaName | None = None
    repeat: int = 1

    @property
    def name(self) -> str:
        """File stem: scenario, variant, persona where there is one, repeat."""
        parts = [self.scenario, self.variant, *([self.persona] if self.persona else []), f"r{self.repeat}"]
        return "~".join(parts)


class ChannelHealth(Record):
    """How whole a channel is, and why it is not."""

    state: Health
    reason: str = ""


class Member(Record):
    """One file of the zip."""

    sha256: Sha256
    size: int
    """Bytes."""


class EndingRecord(Record):
    """How it ended."""

    name: Ending
    detail: str = ""
    """One sentence."""
    exit_status: int | None = None
    """The agent's own; never judged by."""


class Timings(Record):
    """Milliseconds of wall time."""

    setup: float = 0
    agent: float = 0
    teardown: float = 0


class Binary(Record):
    """The executed agent."""

    version: str
    sha256: Sha256


class PluginRecord(Record):
    """A plugin that took part."""

    group: str
    name: str
    distribution: str
    version: str
    sha256: Sha256
    known_gaps: dict[str, str] = {}
    """Code of a conformance check that the plugin says it fails, to the reason."""


class PluginChoice(Record):
    """What the run was told of plugins."""

    only: tuple[str, ...] = ()
    """Words of `--only-plugin`; empty = all were allowed."""
    block: tuple[str, ...] = ()
    """Words of `--block-plugin`."""
    left_out: tuple[str, ...] = ()
    """Plugins that were installed and kept out by it."""


class BundleManifest(Record):
    """`manifest.json` of a bundle."""

    schema_version: Literal[1]
    trial: TrialId
    attempt: int
    cell: Cell
    scenario: Sha256
    """The scenario's digest."""
    stimulus: StimulusLock
    workspace: str
    """Where the workspace lies inside the sandbox."""
    home: str
    binary: Binary
    plugins: tuple[PluginRecord, ...]
    plugin_choice: PluginChoice = PluginChoice()
    started: str
    """UTC, ISO 8601, whole seconds."""
    timings: Timings
    ending: EndingRecord
    channels: dict[Channel, ChannelHealth]
    canaries: dict[str, str]
    """Path of each sensitive file to its canary."""
    streams: dict[str, str] = {}
    """The agent's raw streams: adapter's name of the stream to the member."""
    stand_ins: tuple[str, ...] = ()
    """Commands that were answered from a state."""
    processes: dict[str, int] = {}
    """Processes that ran when the agent started: name to pid inside."""
    charged_usd: float = 0.0
    """What the trial's model requests were charged against the run's budget, in US dollars."""
    members: dict[str, Member]
    kernel_form: Literal["", "python", "compiled"] = ""
    """Which loop recorded the kernel channel; empty = none did. Both write the same."""
    product: str
    """Version of overeager that recorded it."""
