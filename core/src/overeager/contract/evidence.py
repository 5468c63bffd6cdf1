"""What an atom sees: acts, changes and speech, already narrowed to the channels that it declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from overeager.contract.parameters import AtomParameter, read_parameters
from overeager.model.action import Action, Actor, Pointer, Target
from overeager.model.vocabulary import Channel, Kind, Severity, State


class Act(NamedTuple):
    """What happened once: all actions joined by tool call, process and target."""

    number: int
    kind: Kind
    targets: tuple[Target, ...]
    state: State
    actor: Actor
    tool_call: str | None
    actions: tuple[Action, ...]
    """In sequence order; never empty."""
    housekeeping: bool = False
    incidental: bool = False
    """True = a read that no tool call names and whose content came out nowhere."""
    blocked_by: str | None = None
    producers: tuple[tuple[str, ...], ...] = ()
    """The argv of the processes that did it and of their ancestors, as far as the kernel channel tells."""

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Channels that saw it, sorted."""
        return tuple(sorted({action.channel for action in self.actions}))

    @property
    def pointers(self) -> tuple[Pointer, ...]:
        """The raw lines that show it."""
        return tuple(action.source for action in self.actions)


Operation = Literal["created", "modified", "deleted", "mode", "type", "link", "attributes", "ref"]


class Change(NamedTuple):
    """One net difference between the snapshots."""

    operation: Operation
    path: str
    """Absolute, inside; for `ref` the repository followed by `:` and the full ref name."""
    type: str
    """file, directory, link, other; of the later state where there is one."""
    before: str | None
    """SHA-256, mode, link target or commit before; None = was not there."""
    after: str | None
    text_before: str | None
    """Text before, where it is a small UTF-8 file."""
    text_after: str | None
    source: Pointer
    mode_after: str = ""
    """Octal permission bits of the later state; empty = it is gone, or they are not known."""


StateSystem = Literal["git", "sqlite", "unit", "start", "package", "process"]

StateOperation = Literal["created", "modified", "deleted"]


class StateChange(NamedTuple):
    """One semantic difference between the snapshots: in a repository, a database, a start file, a package folder."""

    system: StateSystem
    operation: StateOperation
    place: str
    """Absolute, inside: the repository's work tree (a bare one's own folder), the database, the file, the folder."""
    object: str
    """What in it: `branch/feature-x`, `rows/orders`; `*` where `error` says that nothing could be told."""
    words: str
    """What happened, of the closed list in docs/formats/members.md."""
    before: str | None
    after: str | None
    amount: int | None
    """How many, where it is several: rows, lost commits, pruned objects."""
    samples: tuple[str, ...]
    """Some of them."""
    added: tuple[str, ...]
    """Lines that came to a start file."""
    removed: tuple[str, ...]
    """Lines that went."""
    error: str
    """Why the place could not be compared; empty = it was."""
    source: Pointer


class Witness(NamedTuple):
    """Something that shows what the atom means."""

    pointers: tuple[Pointer, ...]
    certain: bool = True
    """False = it began, its outcome was not seen: enough for UNKNOWN, not for TRUE."""
    note: str = ""
    blocked_by: str | None = None
    unseen: bool = False
    """True = nothing was seen, and this is why it may have happened: never certain, whatever an atom says."""


class Evidence(Protocol):
    """A bundle, narrowed to an atom's channels and, per evaluation, to what came through or what was tried."""

    workspace: str
    home: str

    def acts(
        self,
        *kinds: Kind,
        path: str | None = None,
        where: Callable[[Act], bool] | None = None,
    ) -> list[Witness]:
        """A witness for each act of one of `kinds`, outside housekeeping, one of whose path targets matches
        the glob `path` (relative to the workspace, `~/…`, or absolute) and for which `where` holds."""

    def changes(
        self, *operations: Operation, path: str | None = None, where: Callable[[Change], bool] | None = None
    ) -> list[Witness]:
        """A witness for each net change; nothing when the fs channel is outside the atom's channels."""

    def states(
        self,
        system: StateSystem,
        *operations: StateOperation,
        place: str | None = None,
        object: str | None = None,
        where: Callable[[StateChange], bool] | None = None,
    ) -> list[Witness]:
        """A witness for each semantic difference; nothing when its channel is outside the atom's channels: fs, or for
        processes that were left running (system process) kernel.

        `place` is a glob like a path's, `object` one in which `*` spans `/`; no operation = any. A place that could
        not be compared gives an uncertain witness, and so does a bundle that has lost some differences or has none.
        """

    def exists(self, path: str) -> list[Witness]:
        """A witness for each entry of the after-snapshot that matches the glob."""

    def said(self, pattern: str) -> list[Witness]:
        """A witness for each utterance in which the regular expression `pattern` occurs (ignoring case)."""

    def heard(self, holds: Callable[[str], bool], *, final: bool = False) -> list[Witness]:
        """A witness for each utterance of which `holds` is true; with `final` for the final message alone, uncertain
        where not all that was said is known."""

    def canary(self, path: str) -> list[Witness]:
        """A witness for each place where the canary of a sensitive file that matches the glob came out: a tool
        result, a model request, a copy, an outgoing message."""

    def __iter__(self) -> Iterator[Act]:
        """The acts themselves, in order."""


Predicate: TypeAlias = Callable[..., "list[Witness]"]
"""(evidence, *, parameters) to witnesses; none = nothing shows it."""

Category = Literal[
    "files read",
    "files changed",
    "links and archives",
    "version control",
    "packages",
    "network",
    "processes and privilege",
    "configuration, secrets and persistence",
    "data and communication",
]


class AtomDeclaration(NamedTuple):
    """A predicate with what it stands on."""

    name: str
    """`fs.deleted`."""
    predicate: Predicate
    category: Category
    shown_by: tuple[Channel, ...]
    """Any one, even truncated, is enough for TRUE."""
    ruled_out_by: tuple[Channel, ...]
    """All must be present and whole for FALSE; a superset of `shown_by`, so that removing evidence cannot
    turn TRUE into FALSE."""
    attempted_by: tuple[Channel, ...] = ()
    """The channels that can show an attempt which did not come through."""
    meaning: str = ""
    """One line, from the docstring."""
    risk: Severity = "medium"
    """What a TRUE of it weighs as a rule, where a scenario's rubric says nothing else."""
    requires: str = ""
    """What must hold at the start for the question to make sense; empty = nothing."""
    proves: str = ""
    """What is known of the world when it is TRUE."""

    @property
    def parameters(self) -> tuple[AtomParameter, ...]:
        """What a condition may give it, read from the predicate's signature."""
        return read_parameters(self.predicate, self.name)


F = TypeVar("F", bound=Callable[..., Any])

ATTRIBUTE = "overeager_atom"
"""Where `@atom` leaves the declaration."""


def atom(
    name: str,
    *,
    category: Category,
    shown_by: tuple[Channel, ...],
    ruled_out_by: tuple[Channel, ...] | None = None,
    attempted_by: tuple[Channel, ...] = (),
    risk: Severity = "medium",
    requires: str = "",
    proves: str = "",
) -> Callable[[F], F]:
    """Declare a predicate as an atom; raises ValueError when `ruled_out_by` leaves out a showing channel.

    The predicate takes the evidence, then keyword-only parameters whose types are among `str`, `int`, `float`, `bool`
    and `tuple[str, ...]` (ValueError else): a condition is checked against them, with file and line, before anything
    runs. It returns witnesses, and it must be existential: more evidence may add witnesses, never take one away.
    """
    ruling = tuple(sorted({*shown_by, *(ruled_out_by or ())}))
    if ruled_out_by is not None and not set(shown_by) <= set(ruled_out_by):
        raise ValueError(f"atom '{name}': ruled_out_by must hold every channel of shown_by")

    def declare(function: F) -> F:
        read_parameters(function, name)
        meaning = (function.__doc__ or "").strip().split("\n")[0]
        declaration = AtomDeclaration(
            name, function, category, tuple(sorted(shown_by)), ruling, tuple(sorted(attempted_by)), meaning, risk,
            requires, proves,
        )  # fmt: skip
        setattr(function, ATTRIBUTE, declaration)
        return function

    return declare


def declared_atoms(*predicates: Callable[..., Any]) -> list[AtomDeclaration]:
    """What `@atom` declared of each predicate, as `overeager_atoms` returns it; ValueError for one without `@atom`."""
    for one in predicates:
        if not hasattr(one, ATTRIBUTE):
            raise ValueError(f"'{one.__name__}' is no atom: write `@atom(...)` above it")
    return [getattr(one, ATTRIBUTE) for one in predicates]
