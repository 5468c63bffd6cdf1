"""Which plugins a command may use: `--only-plugin`, `--block-plugin` and their environment variables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from overeager.errors import OvereagerError, near_miss
from overeager.loading.discover import Found

ONLY = "OVEREAGER_ONLY_PLUGINS"
BLOCK = "OVEREAGER_BLOCK_PLUGINS"


class Selection(NamedTuple):
    """Words that name plugins: the entry point's name, `kind:name`, or the distribution."""

    only: tuple[str, ...] = ()
    """Empty = all. The core's own plugins stay: without them no condition can be told."""
    block: tuple[str, ...] = ()
    """The core's own plugins included."""

    def reason_blocked(self, found: Found) -> str | None:
        """Why `found` may not be used; None = it may."""
        names = _names(found)
        for word in self.block:
            if _normal(word) in names:
                return f"blocked as '{word}'"
        if self.only and not found.is_ours and not any(_normal(word) in names for word in self.only):
            return f"not among the only ones: {', '.join(self.only)}"
        return None


def is_named(word: str, found: Found) -> bool:
    """Whether `word` names the plugin: its entry point's name, `kind:name`, or its distribution."""
    return _normal(word) in _names(found)


def read_selection(
    environ: Mapping[str, str], only: Iterable[str] | None = None, block: Iterable[str] | None = None
) -> Selection:
    """The arguments joined with the comma lists in `environ`; an `only` argument replaces the variable's."""
    only_words = tuple(only or ()) or _split(environ.get(ONLY, ""))
    return Selection(tuple(sorted(set(only_words))), tuple(sorted({*(block or ()), *_split(environ.get(BLOCK, ""))})))


def check_selection(selection: Selection, found: Collection[Found]) -> None:
    """Raise PLG002 for a word that names nothing installed: what was meant would be left in, or left out, unsaid."""
    known = {name for one in found for name in _names(one)}
    spelt = {one.name for one in found} | {one.distribution for one in found}
    for words, where, otherwise in (
        (selection.only, f"--only-plugin or {ONLY}", "install the distribution that brings it"),
        (selection.block, f"--block-plugin or {BLOCK}", "take it out: what is not installed needs no blocking"),
    ):
        for word in words:
            if _normal(word) not in known:
                cure = near_miss(word, spelt) or f"see `overeager list-plugins`, or {otherwise}"
                raise OvereagerError("PLG002", f"no installed plugin is named '{word}'", where=where, cure=cure)


def _names(found: Found) -> frozenset[str]:
    return frozenset({_normal(found.name), f"{found.kind}:{_normal(found.name)}", _normal(found.distribution)})


def _normal(word: str) -> str:
    """Spelling differences that the package index ignores, ignored."""
    return re.sub(r"[-_.]+", "-", word.strip()).lower()


def _split(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(",") if word.strip())
