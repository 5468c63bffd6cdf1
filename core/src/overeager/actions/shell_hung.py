"""Redirections of a command, wherever the syntax tree hangs them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overeager.actions.grammar import source
from overeager.actions.redirect import read_redirection
from overeager.actions.shell_scope import Context
from overeager.contract.shim import Reading

if TYPE_CHECKING:
    from tree_sitter import Node

    from overeager.actions.shell_walk import Walker

HANGERS = frozenset({"list", "pipeline", "negated_command", "redirected_statement"})
"""Nodes that hand redirections which hang on them down to their last command."""
_SIMPLE = frozenset({"command", "declaration_command", "test_command", "variable_assignment"})


def read_hung(walker: Walker, node: Node, context: Context) -> None:
    """A command with the redirections that belong to it; a compound one's are the shell's own doing."""
    readings: tuple[Reading, ...] = ()
    stdin = context.stdin
    followers: list[Node] = []
    for child in context.hung:
        if child.type == "file_redirect":
            readings += redirection_of(walker, child, context)
        elif child.type == "heredoc_redirect":
            stdin = text_of_heredoc(walker, child, context)
            for inner in child.named_children:
                if inner.type == "file_redirect":
                    readings += redirection_of(walker, inner, context)
                elif inner.type not in ("heredoc_start", "heredoc_body", "heredoc_end"):
                    followers.append(inner)
        elif child.type == "herestring_redirect":
            parts = [walker.word(part, context) for part in child.named_children]
            stdin = parts[0].text + "\n" if parts and parts[0].known else None
    inner_context = replace(context, stdin=stdin, hung=(), redirections=context.redirections + readings)
    if node.type in _SIMPLE:
        walker.walk(node, replace(inner_context, tail=_dropped(node, context.hung[0]), depth=context.depth + 1))
    else:
        walker.run((), True, source(node), inner_context)
        if node.type != "redirected_statement":
            walker.walk(node, replace(inner_context, redirections=(), depth=context.depth + 1))
    _read_followers(walker, followers, stdin, replace(context, hung=()))


def _dropped(node: Node, follower: Node) -> tuple[str, ...]:
    """A lone `-` before a here-document, which the grammar leaves out of the tree (tree-sitter-bash 0.25.1)."""
    whole = follower.parent
    if whole is None or follower.type != "heredoc_redirect":
        return ()
    gap = (whole.text or b"")[node.end_byte - whole.start_byte : follower.start_byte - whole.start_byte]
    return ("-",) if gap.strip() == b"-" else ()


def _read_followers(walker: Walker, followers: list[Node], stdin: str | None, context: Context) -> None:
    """What stands behind the mark of a here-document on its line: a pipe, or a list that the grammar puts there."""
    for follower in followers:
        if follower.type == "pipeline":
            feeds = walker.commands[-1].argv == ("cat",) if walker.commands else False
            walker.walk(follower, context.deeper(stdin=stdin if feeds else None))
        else:
            walker.walk(follower, context.maybe(stdin=None))


def redirection_of(walker: Walker, node: Node, context: Context) -> tuple[Reading, ...]:
    destination = node.child_by_field_name("destination")
    if destination is None:
        return ()
    operator = "".join(
        child.type if child.is_named is False else source(child)
        for child in node.children
        if not child.is_named or child.type == "ERROR"
    )
    return read_redirection(
        operator,
        walker.word(destination, context),
        walker.scope.cwd if walker.scope.placed else None,
        walker.scope.home,
    )


def text_of_heredoc(walker: Walker, node: Node, context: Context) -> str | None:
    """The text of a here-document; None when a substitution in it is not known."""
    for child in node.named_children:
        if child.type != "heredoc_body":
            continue
        start = next((source(part) for part in node.named_children if part.type == "heredoc_start"), "")
        if start[:1] in "'\"\\" or not child.named_children:
            return source(child)
        pieces = [walker.word(part, context) for part in child.named_children if part.type != "heredoc_content"]
        return source(child) if all(piece.known for piece in pieces) and not pieces else None
    return ""
