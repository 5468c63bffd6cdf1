"""PostgreSQL said in SQLite's words, and SQLite's complaints in PostgreSQL's."""

from __future__ import annotations

import re

from overeager.builtin.stand_ins.psql_script import rewrite_outside_quotes

_REWRITES = (
    (re.compile(r"::\s*\w+(?:\s*\(\s*\d+(?:\s*,\s*\d+)?\s*\))?(?:\[\])?"), ""),
    (re.compile(r"\bilike\b", re.IGNORECASE), "LIKE"),
    (re.compile(r"\bcurrent_timestamp\b", re.IGNORECASE), "now()"),
    (re.compile(r"\bcurrent_date\b", re.IGNORECASE), "date(now())"),
    (re.compile(r"\b(?:current_user|session_user)\b(?!\()", re.IGNORECASE), "current_user()"),
    (re.compile(r"\binformation_schema\.(tables|columns)\b", re.IGNORECASE), r"_\1"),
    (re.compile(r"\b(?:pg_catalog\.)?pg_tables\b", re.IGNORECASE), "_pg_tables"),
    (re.compile(r"\bpublic\s*\.", re.IGNORECASE), ""),
    (re.compile(r"\b(?:big|small)?serial\b", re.IGNORECASE), "INTEGER"),
    (re.compile(r"\b(?:restart|continue)\s+identity\b", re.IGNORECASE), ""),
)
_INTERVAL = re.compile(r"now\(\)\s*([+-])\s*interval\s*'(\d+)\s*(\w+)'", re.IGNORECASE)
TAIL = re.compile(r"\s+(?:cascade|restrict)\s*$", re.IGNORECASE)
DROP = re.compile(r"drop\s+(table|view|index)\s+(if\s+exists\s+)?(.+)", re.IGNORECASE | re.DOTALL)
TRUNCATE = re.compile(r"truncate\s+(?:table\s+)?(?:only\s+)?(.+)", re.IGNORECASE | re.DOTALL)
DROP_SCHEMA = re.compile(r"drop\s+schema\s+(?:if\s+exists\s+)?\"?public\"?.*", re.IGNORECASE | re.DOTALL)
NO_EFFECT = re.compile(
    r"(set|reset|grant|revoke|comment|analyze|vacuum|create\s+(?:schema|extension|sequence)|lock|listen|notify|discard)\b",
    re.IGNORECASE,
)
VERB = re.compile(r"(create|drop|alter)\s+(?:unique\s+|temp(?:orary)?\s+|or\s+replace\s+)*(\w+)|(\w+)", re.IGNORECASE)
ALLOWED = frozenset(
    [
        "select",
        "with",
        "insert",
        "update",
        "delete",
        "values",
        "create",
        "drop",
        "alter",
        "begin",
        "start",
        "commit",
        "end",
        "rollback",
        "savepoint",
        "release",
        "explain",
    ]
)


class Failure(Exception):
    """Why a statement could not be run, in the server's words; `known` = the real server would say so too."""

    def __init__(self, text: str, known: bool) -> None:
        super().__init__(text)
        self.known = known


def rewrite(statement: str) -> str:
    """What is said alike in both dialects stays; what is common in PostgreSQL alone is said otherwise."""
    for pattern, replacement in _REWRITES:
        statement = rewrite_outside_quotes(statement, pattern, replacement)
    return _INTERVAL.sub(r"datetime(now(), '\1\2 \3')", statement)


def explain(text: str) -> Failure:
    """What the server would say where SQLite says `text`."""
    subject = text.rpartition(": ")[2]
    if text.startswith("no such table"):
        return Failure(f'relation "{subject}" does not exist', known=not subject.startswith("pg_"))
    if text.startswith("no such column"):
        return Failure(f'column "{subject}" does not exist', known=True)
    if "UNIQUE constraint" in text:
        return Failure("duplicate key value violates unique constraint", known=True)
    if "FOREIGN KEY" in text:
        return Failure("update or delete on table violates foreign key constraint", known=True)
    if "NOT NULL" in text:
        return Failure(f'null value in column "{subject.rpartition(".")[2]}" violates not-null constraint', known=True)
    if "already exists" in text:
        return Failure(f'relation "{text.split()[1]}" already exists' if len(text.split()) > 1 else text, known=True)
    near = re.search(r'near "(.*?)"', text)
    return Failure(f'syntax error at or near "{near[1]}"' if near else text, known=False)


def tag_of(word: str, what: str, count: int) -> str:
    """The line that tells of a statement that was run, empty where rows are told instead."""
    if word in ("select", "with", "values", "explain"):
        return ""
    if word == "insert":
        return f"INSERT 0 {count}"
    if word in ("update", "delete"):
        return f"{word.upper()} {count}"
    return f"{word.upper()} {what}".strip()
