"""The walk over the syntax tree of bash: commands in order, with all that is known of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from overeager.actions import words as wording
from overeager.actions.grammar import is_broken, parse, source
from overeager.actions.printed import printed
from overeager.actions.read import Understood, bare_name, read_argv, with_stdin
from overeager.actions.shell_builtins import EFFECTS
from overeager.actions.shell_command import ShellCommand
from overeager.actions.shell_hung import HANGERS, read_hung
from overeager.actions.shell_names import BUILTINS, PREFIXES, after_prefix
from overeager.actions.shell_nodes import NODES
from overeager.actions.shell_scope import Context, Scope
from overeager.contract.shim import Reading, ShimRule
from overeager.model.action import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

_DEEPEST = 40
"""Nesting of nodes, functions and texts beyond which the text is not followed."""

_MOST = 2000
"""Commands of one text beyond which the text is not followed."""


_APPLETS = frozenset({"busybox"})
"""Programs that do the work of others themselves: no program of that name starts."""

_REFUSING = frozenset({"npx", "sudo"})
"""Programs that may well not run the command that they are given."""

_DETACHING = frozenset({"setsid"})
"""Wrappers that need not wait: their status says nothing of the command inside, which the trial may outrun."""


class Walker:
    """Collects commands; one walker reads one text, and sub-walkers the texts inside it."""

    def __init__(self, rules: Mapping[str, ShimRule], scope: Scope) -> None:
        self.rules = rules
        self.scope = scope
        self.commands: list[ShellCommand] = []

    def read_text(self, text: str, carried: bool, context: Context | None = None) -> None:
        """Walk `text` as a script of its own in the present scope."""
        context = context or Context()
        if context.depth > _DEEPEST or len(self.commands) > _MOST:
            self._give_up(text, context)
            return
        root = parse(text)
        broken = is_broken(root)
        self.walk(
            root,
            context.deeper(carried=carried and context.carried and not broken, certain=context.certain and not broken),
        )

    def walk(self, node: Node, context: Context) -> None:
        """Read one node; nodes that are no statements are searched for substitutions."""
        if context.depth > _DEEPEST or len(self.commands) > _MOST:
            self._give_up(source(node), context)
            return
        reader = NODES.get(node.type)
        if context.hung and node.type not in HANGERS:
            read_hung(self, node, context)
        elif reader is not None:
            reader(self, node, context)
        elif node.is_named:
            for child in node.named_children:
                self.walk(child, context.maybe(carried=False))

    def sequence(self, nodes: Sequence[Node], context: Context) -> None:
        """Statements one after the other: the last one's status is the sequence's, unless `set -e` holds."""
        statements = [node for node in nodes if node.is_named and node.type != "comment"]
        for position, node in enumerate(statements):
            background = node.next_sibling is not None and node.next_sibling.type == "&"
            last = position == len(statements) - 1
            scope = self.scope
            ended = scope.skipping or scope.leaving != "no"
            doubted = scope.strict is not None and len(self.commands) > scope.strict
            passed_on = last or scope.strict is not None
            open_end = scope.skipping or scope.leaving == "any"
            inner = context.deeper(
                # The trial may end before what runs in the background has got there.
                certain=context.certain and not ended and not doubted and not background,
                carried=context.carried and passed_on and not background and not open_end,
            )
            if background:
                self.subshell(node, inner)
            else:
                self.walk(node, inner)

    def subshell(self, node: Node, context: Context) -> None:
        """Walk `node` in a copy of the scope."""
        kept, self.scope = self.scope, self.scope.copy()
        try:
            self.walk(node, context)
        finally:
            self.scope = kept

    def words(self, node: Node, context: Context) -> tuple[wording.Word, ...]:
        """The words that a node of the text becomes; what it substitutes is walked on the way."""
        return wording.expand(node, wording.Scope(self.scope.variables, lambda inner: self.substitute(inner, context)))

    def word(self, node: Node, context: Context) -> wording.Word:
        """The node as one word."""
        return wording.expand_text(
            node, wording.Scope(self.scope.variables, lambda inner: self.substitute(inner, context))
        )

    def substitute(self, node: Node, context: Context) -> wording.Word:
        """Walk what a substitution runs, and give its output where the text shows it."""
        start = len(self.commands)
        kept, self.scope = self.scope, self.scope.copy()
        try:
            for child in node.named_children:
                self.walk(
                    child, context.deeper(carried=False, stdin=None, certain=context.certain and not context.settled)
                )
        finally:
            self.scope = kept
        inner = self.commands[start:]
        if node.type == "command_substitution" and len(inner) == 1:
            output = printed(inner[0], self.scope.cwd)
            if output is not None:
                return wording.Word(output.rstrip("\n"))
        return wording.Word(source(node), known=False)

    def run(self, argv: tuple[str, ...], resolved: bool, text: str, context: Context) -> None:
        """Add the command that `argv` is, and what it runs in turn."""
        if not argv:
            if context.redirections:
                self._add((), resolved, text, context, Understood(known=True), external=False)
            return
        name = argv[0]
        if name in PREFIXES:
            self._run_prefixed(argv, resolved, text, context)
        elif name in self.scope.functions:
            self._call_function(name, argv, text, context)
        elif name in self.scope.aliases:
            self._run_alias(name, argv, context)
        elif name in EFFECTS:
            self._add(argv, resolved, text, context, self._understand(argv, resolved), external=False)
            EFFECTS[name](self, argv, context)
        else:
            self._run_program(argv, resolved, text, context)

    def _run_program(self, argv: tuple[str, ...], resolved: bool, text: str, context: Context) -> None:
        fed = with_stdin(argv, context.stdin) if context.stdin is not None else None
        understood = self._understand(fed or argv, resolved)
        self._add(argv, resolved, text, context, understood, external=argv[0] not in BUILTINS and not context.within)
        name = bare_name(argv[0])
        for nested in understood.nested:
            more = nested.more_arguments and not fed
            inner = context.deeper(
                certain=context.certain and not more and name not in _REFUSING | _DETACHING,
                carried=context.carried and name not in _DETACHING and not more,
                nested=True,
                within=name in _APPLETS,
                more=more,
                settled=context.settled or not resolved,
                stdin=context.stdin if nested.argv else None,
            )
            self._run_nested(nested.argv, nested.text, nested.cwd, inner)

    def _run_nested(self, argv: tuple[str, ...], text: str | None, cwd: str | None, context: Context) -> None:
        kept = self.scope
        self.scope = Scope(cwd or kept.cwd, kept.home, {**kept.variables}, placed=kept.placed)
        try:
            if text is not None:
                self.read_text(text, carried=True, context=context)
            elif context.depth <= _DEEPEST:
                self.run(argv, True, " ".join(argv), context)
        finally:
            self.scope = kept

    def _run_prefixed(self, argv: tuple[str, ...], resolved: bool, text: str, context: Context) -> None:
        rest = after_prefix(argv)
        if rest is None:
            self.run((), resolved, text, context)
            return
        if argv[0] in ("command", "exec"):
            kept, self.scope = self.scope, replace(self.scope, functions={}, aliases={})
            self.run(rest, resolved, text, context)
            kept.cwd, self.scope = self.scope.cwd, kept
        else:
            self.run(rest, resolved, text, replace(context, carried=context.carried and argv[0] != "coproc"))
        if argv[0] == "exec":
            self.scope.leaving = "any"

    def _call_function(self, name: str, argv: tuple[str, ...], text: str, context: Context) -> None:
        body = self.scope.functions[name]
        self._add(argv, True, text, context, Understood(known=True), external=False)
        kept = dict(self.scope.variables)
        self.scope.variables.update({str(at): word for at, word in enumerate(argv) if at})
        if len(argv) > 1:
            self.scope.variables.update({"@": " ".join(argv[1:]), "*": " ".join(argv[1:])})
        # A function that calls itself would not end; inside its own body it is taken for a program.
        hidden = self.scope.functions.pop(name)
        kept_skipping = self.scope.skipping
        self.walk(body, context.deeper())
        self.scope.skipping = kept_skipping
        self.scope.functions[name] = hidden
        for key in [str(at) for at in range(1, len(argv))] + ["@", "*"]:
            self.scope.variables[key] = kept.get(key)

    def _run_alias(self, name: str, argv: tuple[str, ...], context: Context) -> None:
        """Scripts expand aliases only when told to, so an alias and the program of its name are both possible."""
        text = self.scope.aliases.pop(name)
        self.read_text(" ".join((text, *argv[1:])), carried=False, context=context.maybe())
        self.scope.aliases[name] = text

    def _understand(self, argv: tuple[str, ...], resolved: bool) -> Understood:
        understood = read_argv(argv, self.scope.cwd, self.scope.home, self.rules)
        if resolved and self.scope.placed:
            return understood
        doubtful = tuple(self._doubt(reading) for reading in understood.readings)
        return understood._replace(readings=doubtful)

    def _doubt(self, reading: Reading) -> Reading:
        """A target with an unknown part names no place."""
        targets = tuple(
            Target(type="other", value=target.value, role=target.role) if self._is_open(target.value) else target
            for target in reading.targets
        )
        return reading._replace(targets=targets)

    def _is_open(self, value: str) -> bool:
        return not self.scope.placed or any(mark in value for mark in ("$", "`", "<(", ">("))

    def _add(
        self, argv: tuple[str, ...], resolved: bool, text: str, context: Context, understood: Understood, external: bool
    ) -> None:
        self.commands.append(
            ShellCommand(
                argv=argv,
                cwd=self.scope.cwd,
                reached="certain" if context.certain else "possible",
                external=external,
                carried=context.carried,
                readings=understood.readings + context.redirections,
                text=text[:500],
                resolved=resolved,
                more_arguments=context.more,
                nested=context.nested,
                known=understood.known or not external,
                detail=understood.detail,
            )
        )

    def _give_up(self, text: str, context: Context) -> None:
        if len(self.commands) > _MOST + 1:
            return
        unknown = Reading("unknown", (Target(type="text", value=text[:500]),), "not followed", sure=False)
        self._add(
            (),
            False,
            text,
            replace(context, redirections=(unknown,), certain=False, carried=False),
            Understood(),
            external=False,
        )
