"""What the author of an agent adapter writes: declarations and pure functions. The core runs the process."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from overeager.model.action import Action, Actor
from overeager.model.persona import Step
from overeager.model.vocabulary import Kind

API = 1
"""Version of the plugin interface, for all five kinds."""

ApiRange: TypeAlias = int | tuple[int, int]
"""The interface versions that a plugin is written for: the one, or the oldest and the newest."""

WireApi = Literal["anthropic-messages", "openai-responses", "openai-chat", "gemini"]

JsonObject: TypeAlias = Mapping[str, Any]
"""A decoded JSON object of a vendor's wire format."""


class Package(NamedTuple):
    """One tarball of a vendor's release, by platform."""

    name: str
    """npm name."""
    version: str
    sha512: str
    """The registry's integrity value of the tarball, `sha512-…` in base64."""


class Release(NamedTuple):
    """One pinned version of a CLI on one platform."""

    version: str
    platform: str
    """`linux-x86_64`, `linux-aarch64`."""
    packages: tuple[Package, ...]
    """What is fetched; the first holds the binary."""
    binary: str
    """Path of the executed file below the install."""
    sha256: str
    """Of that file."""
    size_mb: int
    """Unpacked size in MB (10^6 bytes), for the announcement before a download."""
    functions: tuple[str, ...] = ()
    """Commands that its shell tool replaces by functions of its own: that no such program started is no gap."""


class Vendor(NamedTuple):
    """The vendor's CLI, as told to a user before it is fetched."""

    title: str
    licence: str
    releases: tuple[Release, ...]
    """Newest last; the first is the default."""


class Mode(NamedTuple):
    """A permission mode."""

    id: str
    title: str
    """What it lets through, in a few words."""


class Stream(NamedTuple):
    """A raw stream that the bundle keeps verbatim."""

    name: str
    """`stdout`, `session` …: the key under which `parse` gets it."""
    source: str
    """`stdout`, `stderr`, or a glob below the home (`.claude/projects/**/*.jsonl`)."""


class Housekeeping(NamedTuple):
    """Doings of the CLI itself. A label, never a filter; all that is given must match."""

    kind: Kind
    pattern: str
    """Regular expression, full match, on the target's value."""
    actor: Actor = "agent"
    versions: tuple[str, ...] = ()
    """Empty = all."""


class Task(NamedTuple):
    """What a launch is made for."""

    prompt: str
    workspace: str
    """Inside path; also the working directory."""
    home: str
    endpoint: str | None
    """Base URL of the model gateway inside the sandbox; None for an adapter without a wire API."""
    key: str
    """A dummy of the vendor's shape; the real key never enters."""
    model: str
    mode: str
    version: str
    turns: int
    install: str
    """Inside path of the release's install."""
    binary: str
    """Inside path of the executed file."""
    interactive: bool = False
    """True = a responder answers over stdin (`converse`)."""
    steps: tuple[Step, ...] = ()
    """Only for an adapter that declares `plays_personas`."""


class Launch(NamedTuple):
    """How the CLI is started. No real home, no host path, only declared secrets."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    """Beyond the core's HOME, PATH, LANG, USER, SHELL, TERM."""
    files: Mapping[str, str]
    """Start files, by path below the home."""


End = Literal["completed", "asked", "refused", "turn_limit", "provider_error", "agent_error", "none"]
"""What the stream itself says of the end; `none` = it was cut before its end event."""


class Parsed(NamedTuple):
    """All that the raw streams say."""

    actions: tuple[Action, ...]
    """Sequence numbers are given anew by the core; order within a stream is kept."""
    end: End
    end_detail: str
    final_message: str
    version: str | None
    """The version that the stream itself names."""
    exchanges: int
    """Model exchanges that the streams show."""


class ToolUse(NamedTuple):
    """A tool call in the vendor's words."""

    name: str
    arguments: JsonObject
    before: tuple[ToolUse, ...] = ()
    """Calls that stand before it in the same message, because the CLI refuses it without them (an edit of a
    file that was not read)."""


class Classified(NamedTuple):
    """What a model request is."""

    role: Literal["main", "subagent", "side"]
    conversation: str
    """Key of the conversation; each has a script position of its own."""
    canned: str = ""
    """For a side request: the text to answer."""


class Reply(NamedTuple):
    """The answer to one line of a two-way protocol."""

    lines: tuple[bytes, ...]
    """What is written to the agent's stdin, newlines included."""
    state: JsonObject
    """Handed back with the next line."""
    actions: tuple[Action, ...] = ()
    """Questions and grants that the line carries."""
    close: bool = False
    """True = close stdin after the lines."""


@runtime_checkable
class AgentAdapter(Protocol):
    """A coding agent. All methods are pure: equal arguments give equal results, nothing is read or written.

    An adapter may also declare `known_gaps: ClassVar[Mapping[str, str]]`: the code of a conformance check that it
    fails, and why that is borne; and `tools: ClassVar[Mapping[str, tuple[Kind, ...]]]`: its tool table by name, with
    the kinds as which a call may read, for `overeager atoms explain`. Since API 1. A complete example:
    docs/extending/agents.md.
    """

    @property
    def api(self) -> ApiRange:
        """A class attribute: `api = 1`, or a pair of the oldest and the newest version that it fits. A number, not
        `overeager.API`, which would promise to fit every version."""

    id: ClassVar[str]
    """Equal to the entry point's name."""
    vendor: ClassVar[Vendor | None]
    """None = nothing to install."""
    wire_api: ClassVar[WireApi | None]
    """None = speaks to no model."""
    modes: ClassVar[tuple[Mode, ...]]
    """The first is the default."""
    streams: ClassVar[tuple[Stream, ...]]
    secrets: ClassVar[tuple[str, ...]]
    """Names of environment variables on the host that hold the provider's key."""
    housekeeping: ClassVar[tuple[Housekeeping, ...]]
    plays_personas: ClassVar[bool]
    """True = `Task.steps` is filled and no wire API is needed."""
    tested_versions: ClassVar[tuple[str, ...]]
    null_trials: ClassVar[Mapping[str, tuple[str, ...]]]
    """Version to the normalised acts (`kind target`) of a trial in which the model only says "done"."""

    def launch(self, task: Task) -> Launch:
        """How this CLI is started for `task`. Called once a trial."""

    def parse(self, members: Mapping[str, bytes]) -> Parsed:
        """Read the streams by name (a stream that matched several files is joined in path order, each
        followed by a newline). Never raises on cut or strange input: what is not understood is an action of
        kind `unknown`; a call without a result is `unfinished`. A shell call is one action of kind exec
        whose target is the command text (type `command`); the core reads the text."""

    def encode(self, step: Step, offered_tools: Collection[str], workspace: str, home: str) -> ToolUse | None:
        """The tool call by which a model would do `step`; None when no offered tool can. Inverse of `parse`
        on the tool table. Not called for say and ask."""

    def classify(self, request: JsonObject) -> Classified:
        """Tell the main conversation from sub-agents and side requests. Called once a model request."""

    def greet(self, task: Task) -> tuple[bytes, ...]:
        """The lines that open a two-way protocol; only when `task.interactive`."""

    def converse(self, line: bytes, state: JsonObject, answer: bool) -> Reply:
        """Answer one output line of a two-way protocol; `answer` is what the responder says to a question
        in it. Called for each line, in order; `state` is {} at first."""
