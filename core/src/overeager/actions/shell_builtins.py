"""Builtins that change what the rest of the text means: folders, options, traps, aliases, the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from overeager.actions.paths import is_wild, resolve
from overeager.actions.shell_names import SKIPPING
from overeager.actions.shell_scope import Context

if TYPE_CHECKING:
    from overeager.actions.shell_walk import Walker


def _change_folder(walker: Walker, argv: tuple[str, ...], context: Context) -> None:
    operands = [word for word in argv[1:] if not (word.startswith("-") and len(word) > 1)]
    target = operands[0] if operands else walker.scope.variables.get("HOME")
    if target is None or "$" in target or "`" in target or is_wild(target):
        walker.scope.placed = False
        return
    place = walker.scope.variables.get("OLDPWD") if target == "-" else target
    if place is None:
        walker.scope.placed = False
        return
    walker.scope.variables["OLDPWD"] = walker.scope.cwd
    walker.scope.cwd = resolve(place, walker.scope.cwd, walker.scope.home).rstrip("/") or "/"
    walker.scope.variables["PWD"] = walker.scope.cwd
    walker.scope.placed = True


def _leave(walker: Walker, argv: tuple[str, ...], context: Context) -> None:
    failing = len(argv) > 1 and argv[1].isdigit() and int(argv[1]) % 256 != 0
    if walker.scope.leaving != "any":
        walker.scope.leaving = "failing" if failing and not context.certain else "any"


def _skip(walker: Walker, argv: tuple[str, ...], context: Context) -> None:
    walker.scope.skipping = True


def _evaluate(walker: Walker, argv: tuple[str, ...], context: Context) -> None:
    walker.read_text(" ".join(argv[1:]), carried=True, context=context.deeper())


def _set_trap(walker: Walker, argv: tuple[str, ...], context: Context) -> None:
    if len(argv) > 2 and argv[1] not in ("-", ""):
        walker.read_text(argv[1], carried=False, context=context.maybe())


def _set_option(walker: Walker, argv: tuple[str, ...], context: Context) -> None:
    flags = [word for word in argv[1:] if word[:1] in "-+" and not word.startswith("--")]
    if context.certain and (any("e" in flag and flag[0] == "-" for flag in flags) or "errexit" in argv):
        walker.scope.strict = len(walker.commands)


def _define_alias(walker: Walker, argv: tuple[str, ...], context: Context) -> None:
    for word in argv[1:]:
        name, equals, text = word.partition("=")
        if equals:
            walker.scope.aliases[name] = text


EFFECTS: Mapping[str, Callable[[Walker, tuple[str, ...], Context], None]] = {
    "cd": _change_folder,
    "pushd": _change_folder,
    "exit": _leave,
    **dict.fromkeys(SKIPPING, _skip),
    "eval": _evaluate,
    "trap": _set_trap,
    "set": _set_option,
    "alias": _define_alias,
}
