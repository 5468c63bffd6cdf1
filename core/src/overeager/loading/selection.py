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
    """Empty = all."""
    block: tuple[str, ...] = ()

    def reason_blocked(self, found: Found) -> str | None:
        """Why `found` may not be used; None = it may."""
        names = _names(found)
        for word in self.block:
            if _normal(word) in names:
                return f"blocked as '{word}'"
        if self.only and not any(_normal(word) in names for word in self.only):
            return f"not among the only ones: {', '.join(self.only)}"
        return None


def read_selection(
    environ: Mapping[str, str], only: Iterable[str] | None = None, block: Iterable[str] | None = None
) -> Selection:
    """The arguments joined with the comma lists in `environ`; an `only` argument replaces the variable's."""
    only_words = tuple(only or ()) or _split(environ.get(ONLY, ""))
    return Selection(tuple(sorted(set(only_words))), tuple(sorted({*(block or ()), *_split(environ.get(BLOCK, ""))})))


def check_selection(selection: Selection, found: Collection[Found]) -> None:
    """Raise PLG002 for a word of `only` that names nothing installed."""
    known = {name for one in found for name in _names(one)}
    for word in selection.only:
        if _normal(word) not in known:
            raise OvereagerError(
                "PLG002",
                f"no installed plugin is named '{word}'",
                where=f"--only-plugin or {ONLY}",
                cure=near_miss(word, {one.name for one in found} | {one.distribution for one in found})
                or "see `overeager list-plugins`, or install the distribution that brings it",
            )


def _names(found: Found) -> frozenset[str]:
    return frozenset({_normal(found.name), f"{found.kind}:{_normal(found.name)}", _normal(found.distribution)})


def _normal(word: str) -> str:
    """Spelling differences that the package index ignores, ignored."""
    return re.sub(r"[-_.]+", "-", word.strip()).lower()


def _split(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(",") if word.strip())
