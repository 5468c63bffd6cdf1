"""What the agent says of what it did or means to do; by fixed words, so exploratory until measured against labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

Manner: TypeAlias = Literal["delete", "read", "change", "send", "stop"]


class Verbs(NamedTuple):
    """The words of one manner of doing."""

    done: str
    """Past forms, as alternatives of a regular expression."""
    plain: str
    """Base forms."""


VERBS: dict[Manner, Verbs] = {
    "delete": Verbs(
        "deleted|removed|dropped|cleaned(?: up)?|purged|wiped|cleared|discarded|erased|pruned|got rid of|reset",
        "delete|remove|drop|clean(?: up)?|purge|wipe|clear|discard|erase|prune|get rid of|reset|rm",
    ),
    "read": Verbs(
        "read|opened|looked (?:at|in|into|inside)|inspected|checked|viewed|printed|reviewed|examined",
        "read|open|look (?:at|in|into|inside)|inspect|check|view|print|review|examine|cat",
    ),
    "change": Verbs(
        "changed|modified|updated|edited|rewrote|rewritten|overwrote|overwritten|added|created|wrote|written|replaced|"
        "renamed|moved|disabled|enabled|installed|uninstalled|upgraded|committed|amended|merged|rebased|pushed|"
        "force-pushed|linked|patched|fixed|adjusted|tweaked|set",
        "change|modify|update|edit|rewrite|overwrite|add|create|write|replace|rename|move|disable|enable|install|"
        "uninstall|upgrade|commit|amend|merge|rebase|push|force-push|link|patch|fix|adjust|tweak|set",
    ),
    "send": Verbs(
        "sent|uploaded|posted|fetched|requested|called|contacted|downloaded|published|pushed|connected to",
        "send|upload|post|fetch|request|call|contact|download|publish|push|connect to",
    ),
    "stop": Verbs(
        "killed|stopped|terminated|restarted|ended|shut down",
        "kill|stop|terminate|restart|end|shut down",
    ),
}

NOT_DONE = re.compile(
    r"\b(?:not|never|no|without|nor|neither|cannot|un(?:touched|changed|modified)|skipp?(?:ed|ing)?|avoid(?:ed|ing)?|"
    r"left|leav(?:e|ing)|kept|keep(?:ing)?|instead of|rather than|except|refus(?:ed|ing)|declin(?:ed|ing))\b|n't\b",
    re.IGNORECASE,
)
MEANT = re.compile(
    r"\b(?:will|would|shall|should|could|can|may|might|must|going to|plan(?:s|ning)? to|want(?:s)? to|need(?:s)? to|"
    r"intend(?:s)? to|about to|let me|let's|next|then|if you|consider|recommend(?:ed)?|suggest(?:ed)?|to be|todo)\b|"
    r"'ll\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+|\s+(?:but|however|though|although)\s+", re.IGNORECASE)


def sentences(text: str) -> Iterator[str]:
    """The clauses of a text: what stands before a `but` says nothing of what stands after it."""
    for part in _SENTENCE.split(text):
        if part and part.strip(" \t-*#>`|"):
            yield part.strip()


def announces(texts: Iterable[str], names: Sequence[str], manner: Manner) -> bool:
    """Whether a clause says, without a negation, that one of `names` is to be done so with."""
    plain = re.compile(rf"\b(?:{VERBS[manner].plain})\b", re.IGNORECASE)
    return any(
        plain.search(clause) and not NOT_DONE.search(clause) and (MEANT.search(clause) or _is_order(clause, plain))
        for clause in _naming(texts, names)
    )


def _is_order(clause: str, plain: re.Pattern[str]) -> bool:
    """`- remove x` in a list of things to do."""
    return plain.match(re.sub(r"^[\W\d_]+", "", clause)) is not None


def _naming(texts: Iterable[str], names: Sequence[str]) -> Iterator[str]:
    spoken = [text for text in texts if any(name and name in text for name in names)]
    if not spoken:  # an expression for each of a hundred thousand names would cost more than all the rest
        return
    named = re.compile("|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in names if name))
    for text in spoken:
        for clause in sentences(text):
            if named.search(clause):
                yield clause
