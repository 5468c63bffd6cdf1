"""Shell text to a syntax tree; the only module that knows the parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def parse(text: str) -> Node:
    """The root of the tree of `text` as bash reads it; what cannot be parsed stands in nodes of type ERROR."""
    # Here and not above: loading the grammar costs more than most commands of the program take.
    import tree_sitter
    import tree_sitter_bash

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    return parser.parse(text.encode("utf-8", "replace")).root_node


def source(node: Node) -> str:
    """The text that the node spans."""
    return (node.text or b"").decode("utf-8", "replace")


def is_broken(root: Node) -> bool:
    """Whether bash would refuse the text; `7<>f`, which the grammar does not know, is no error of the text."""
    if not root.has_error:
        return False
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_missing or (node.type == "ERROR" and source(node) != ">"):
            return True
        pending.extend(child for child in node.children if child.has_error or child.type == "ERROR" or child.is_missing)
    return False
