"""What psql's backslash commands list."""

from __future__ import annotations

import fnmatch

from overeager.builtin.stand_ins.psql_output import Layout, Result, show
from overeager.builtin.stand_ins.psql_tables import Session, column_name
from overeager.builtin.stand_ins.words import objects
from overeager.contract.stand_in import State


def list_databases(state: State, layout: Layout) -> str:
    """\\l."""
    names = ("Name", "Owner", "Encoding", "Collate", "Ctype")
    rows = tuple((name, "user", "UTF8", "C.UTF-8", "C.UTF-8") for name in objects(state, "database"))
    return _titled("List of databases", Result(names, rows), layout)


def list_tables(session: Session, pattern: str, layout: Layout) -> str | None:
    """\\dt; None = there are none."""
    rows = tuple(
        ("public", name, "table", "user")
        for name in sorted(session.tables)
        if fnmatch.fnmatchcase(name, pattern or "*")
    )
    return _titled("List of relations", Result(("Schema", "Name", "Type", "Owner"), rows), layout) if rows else None


def describe_table(session: Session, name: str, layout: Layout) -> str | None:
    """\\d NAME; None = there is no such table."""
    own = name.removeprefix("public.").strip('"')
    if own not in session.tables:
        return None
    rows = tuple((column_name(one), " ".join(one.split()[1:]), "", "") for one in session.columns(own))
    return _titled(f'Table "public.{own}"', Result(("Column", "Type", "Nullable", "Default"), rows), layout)


def list_roles(layout: Layout) -> str:
    """\\du."""
    rows = (("postgres", "Superuser, Create role, Create DB, Replication, Bypass RLS"), ("user", ""))
    return _titled("List of roles", Result(("Role name", "Attributes"), rows), layout)


def list_schemas(layout: Layout) -> str:
    """\\dn."""
    return _titled("List of schemas", Result(("Name", "Owner"), (("public", "pg_database_owner"),)), layout)


def _titled(title: str, result: Result, layout: Layout) -> str:
    body = show(result, layout)
    plain = layout.bare or layout.unaligned or layout.csv
    return body if plain else f"{title:^{max(map(len, body.splitlines() or ['']))}}".rstrip() + "\n" + body
