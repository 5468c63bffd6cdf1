"""How each kind of node of the syntax tree is walked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from overeager.actions import words as wording
from overeager.actions.grammar import source
from overeager.actions.paths import is_wild
from overeager.actions.printed import printed
from overeager.actions.shell_hung import read_hung, redirection_of, text_of_heredoc
from overeager.actions.shell_scope import Context
from overeager.contract.shim import Reading
from overeager.model.action import Target

if TYPE_CHECKING:
    from tree_sitter import Node

    from overeager.actions.shell_walk import Walker


def _read_body(walker: Walker, node: Node, context: Context) -> None:
    walker.sequence(node.children, context)


def _read_subshell(walker: Walker, node: Node, context: Context) -> None:
    kept, walker.scope = walker.scope, walker.scope.copy()
    walker.sequence(node.children, context)
    walker.scope = kept


def _read_list(walker: Walker, node: Node, context: Context) -> None:
    """`a && b`: with status 0 both ran; `a || b`: either may have failed or not run."""
    first, operator, second = node.children[0], node.children[1].type, node.children[-1]
    both = operator == "&&"
    walker.walk(first, context.deeper(carried=context.carried and both))
    walker.walk(second, context.maybe(carried=context.carried and both, hung=context.hung))


def _read_pipeline(walker: Walker, node: Node, context: Context) -> None:
    """The last command's status counts; what the command before prints, where known, is the next one's stdin."""
    parts = [child for child in node.named_children if child.type != "comment"]
    parts[0], hung, context = _read_ahead(walker, parts[0], context)
    stdin = context.stdin
    for position, part in enumerate(parts):
        start = len(walker.commands)
        last = position == len(parts) - 1
        hung = context.hung if last else hung if position == 0 else ()
        walker.subshell(part, context.deeper(carried=context.carried and last, stdin=stdin, hung=hung))
        added = walker.commands[start:]
        stdin = printed(added[0], walker.scope.cwd) if len(added) == 1 else None
        if stdin is None and len(added) == 1 and added[0].argv == ("cat",):
            stdin = _document(walker, part, context)


def _read_ahead(walker: Walker, node: Node, context: Context) -> tuple[Node, tuple[Node, ...], Context]:
    """Of `a || b 2>&1 | c` the tree pipes the whole list, bash its last command: that, redirections, context."""
    body = node.child_by_field_name("body") if node.type == "redirected_statement" else None
    if body is None or body.type != "list":
        return node, (), context
    first, both = body.children[0], body.children[1].type == "&&"
    walker.walk(first, context.deeper(carried=context.carried and both))
    hung = tuple(child for child in node.named_children if child != body)
    return body.children[-1], hung, replace(context, certain=False, carried=context.carried and both)


def _document(walker: Walker, node: Node, context: Context) -> str | None:
    for child in node.named_children:
        if child.type == "heredoc_redirect":
            return text_of_heredoc(walker, child, context)
    return None


def _read_negation(walker: Walker, node: Node, context: Context) -> None:
    for child in node.named_children:
        walker.walk(child, context.deeper(carried=False, hung=context.hung))


def _read_condition(walker: Walker, node: Node, context: Context) -> None:
    """if and while: the first condition is reached, all else may not be."""
    conditions = node.children_by_field_name("condition")
    for child in node.named_children:
        if child in conditions[:1]:
            walker.walk(child, context.deeper(carried=False))
        else:
            walker.walk(child, context.maybe(carried=False))
    if node.type == "while_statement":
        walker.scope.skipping = False


def _read_case(walker: Walker, node: Node, context: Context) -> None:
    for child in node.named_children:
        walker.walk(child, context.maybe(carried=False))


def _read_for(walker: Walker, node: Node, context: Context) -> None:
    """The body once for each value that the text gives."""
    variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
    values = [word for child in node.children_by_field_name("value") for word in walker.words(child, context)]
    if body is None or variable is None:
        return
    certain = context.certain and bool(values) and values[0].known and not is_wild(values[0].text)
    for position, value in enumerate(values[:64] or [wording.Word("", known=False)]):
        walker.scope.variables[source(variable)] = value.text if value.known else None
        walker.walk(body, context.deeper(certain=certain and position == 0, carried=False))
    walker.scope.skipping = False


def _read_function(walker: Walker, node: Node, context: Context) -> None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is not None and body is not None:
        walker.scope.functions[source(name)] = body


def _read_assignment(walker: Walker, node: Node, context: Context) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None:
        return
    word = wording.Word("") if value is None else walker.word(value, context)
    appended = any(child.type == "+=" for child in node.children)
    walker.scope.variables[source(name)] = word.text if word.known and context.certain and not appended else None
    if source(name) == "HOME" and word.known:
        walker.scope.home = word.text


def _read_command(walker: Walker, node: Node, context: Context) -> None:
    """A simple command: assignments before it hold for it alone; redirections may stand among its words."""
    found: list[wording.Word] = []
    stdin = context.stdin
    redirections: tuple[Reading, ...] = ()
    for child in node.named_children:
        if child.type == "variable_assignment":
            if (value := child.child_by_field_name("value")) is not None:
                walker.word(value, context)
        elif child.type == "herestring_redirect":
            parts = [walker.word(part, context) for part in child.named_children]
            stdin = parts[0].text + "\n" if parts and parts[0].known else None
        elif child.type == "file_redirect":
            redirections += redirection_of(walker, child, context)
        elif child.type == "heredoc_redirect":
            stdin = text_of_heredoc(walker, child, context)
        elif child.type == "ERROR":
            walker.walk(child, context.maybe(carried=False))
        else:
            found.extend(walker.words(child, context))
    argv = (*(word.text for word in found), *context.tail)
    known = all(word.known for word in found)
    merged = replace(context, stdin=stdin, redirections=context.redirections + redirections)
    walker.run(argv, known, source(node), merged)


def _read_test(walker: Walker, node: Node, context: Context) -> None:
    """`[[ … ]]` and `(( … ))` run nothing but what they substitute."""
    for child in node.named_children:
        walker.words(child, context)
    walker.run((), True, source(node), context)


def _read_redirected(walker: Walker, node: Node, context: Context) -> None:
    """A redirection belongs to the last command of what it stands behind; the tree hangs it on the whole."""
    body = node.child_by_field_name("body")
    hung = (*(child for child in node.named_children if child != body), *context.hung)
    if body is None:
        read_hung(walker, node, replace(context, hung=hung))
    else:
        walker.walk(body, replace(context, hung=hung, depth=context.depth + 1))


def _read_declaration(walker: Walker, node: Node, context: Context) -> None:
    for child in node.named_children:
        if child.type == "variable_assignment":
            _read_assignment(walker, child, context)
    walker.run((source(node).split(maxsplit=1)[0],), True, source(node), context)


def _read_unset(walker: Walker, node: Node, context: Context) -> None:
    for child in node.named_children:
        walker.scope.variables.pop(source(child), None)


def _read_error(walker: Walker, node: Node, context: Context) -> None:
    for child in node.named_children:
        if child.type in NODES:
            walker.walk(child, context.maybe(carried=False))
    unknown = Reading("unknown", (Target(type="text", value=source(node)[:500]),), "not parsed", sure=False)
    walker.run((), False, source(node), replace(context, redirections=(unknown,), certain=False, carried=False))


def _read_bare_redirect(walker: Walker, node: Node, context: Context) -> None:
    """`$(< file)`: a redirection that stands alone."""
    walker.run((), True, source(node), replace(context, redirections=redirection_of(walker, node, context)))


NODES: Mapping[str, Callable[[Walker, Node, Context], None]] = {
    "program": _read_body,
    "compound_statement": _read_body,
    "do_group": _read_body,
    "subshell": _read_subshell,
    "list": _read_list,
    "pipeline": _read_pipeline,
    "negated_command": _read_negation,
    "if_statement": _read_condition,
    "while_statement": _read_condition,
    "case_statement": _read_case,
    "for_statement": _read_for,
    "function_definition": _read_function,
    "variable_assignment": _read_assignment,
    "command": _read_command,
    "test_command": _read_test,
    "redirected_statement": _read_redirected,
    "declaration_command": _read_declaration,
    "unset_command": _read_unset,
    "file_redirect": _read_bare_redirect,
    "ERROR": _read_error,
}
