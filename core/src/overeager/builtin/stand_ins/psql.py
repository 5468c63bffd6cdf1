"""psql, answered from a state of databases, tables and rows; statements run in a database in memory.

`database/shop: {}`, `table/shop.orders: {columns: [id integer primary key, total numeric], rows: [[1, 5], [2, 7]]}`.
Rows become objects of their own (`row/shop.orders/1`), named after the primary key or else the first column.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from overeager.builtin.commands.arguments import Arguments, take_apart
from overeager.builtin.stand_ins import psql_meta as meta
from overeager.builtin.stand_ins.psql_dialect import Failure
from overeager.builtin.stand_ins.psql_output import Layout, show
from overeager.builtin.stand_ins.psql_script import Piece, take_pieces
from overeager.builtin.stand_ins.psql_tables import Session, open_session
from overeager.builtin.stand_ins.words import drop, objects, put
from overeager.contract.stand_in import Answer, Ask, Call, State

_VALUED = frozenset(
    ["-c", "--command", "-f", "--file", "-d", "--dbname", "-h", "--host", "-p", "--port", "-U", "--username", "-F",
     "--field-separator", "-v", "--set", "--variable", "-P", "--pset", "-o", "--output", "-R"]
)  # fmt: skip
_PLAIN = frozenset(
    [
        "-t",
        "--tuples-only",
        "-A",
        "--no-align",
        "-q",
        "--quiet",
        "-x",
        "--expanded",
        "--csv",
        "-w",
        "--no-password",
        "-W",
        "--password",
        "-X",
        "--no-psqlrc",
        "-l",
        "--list",
        "-1",
        "--single-transaction",
        "-a",
        "-e",
        "-E",
        "-b",
        "-V",
        "--version",
        "-n",
    ]
)


def respond(call: Call, state: State) -> Answer | Ask:
    """What psql says."""
    given = take_apart(call.argv[1:], _VALUED)
    strange = [one for one in (*given.flags, *(name for name, _ in given.values)) if one not in _VALUED | _PLAIN]
    if strange:
        text = f"psql: unrecognized option '{strange[0]}'\npsql: hint: Try \"psql --help\" for more information.\n"
        return Answer(stderr=text, status=1, known=False)
    if given.has("-V", "--version"):
        return Answer("psql (PostgreSQL) 15.8 (Debian 15.8-0+deb12u1)\n")
    database = _database(call, given, state)
    if given.has("-l", "--list"):
        return Answer(meta.list_databases(state, _layout(given)))
    if database not in objects(state, "database"):
        where = 'connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed'
        return Answer(stderr=f'psql: error: {where}: FATAL:  database "{database}" does not exist\n', status=2)
    texts = _gather(call, given)
    return texts if isinstance(texts, Ask | Answer) else _run(_read_script(texts), given, state, database)


def _database(call: Call, given: Arguments, state: State) -> str:
    """By option, operand, address or environment; else the one with `default: true`, or the first by name."""
    word = given.value("-d", "--dbname") or (given.operands[0] if given.operands else "")
    word = word or call.environment.get("PGDATABASE", "")
    if "://" in word:
        word = word.partition("://")[2].partition("/")[2].partition("?")[0]
    if "dbname=" in word:
        word = word.partition("dbname=")[2].split()[0] if word.partition("dbname=")[2] else ""
    known = objects(state, "database")
    return word or next((name for name, one in known.items() if one.get("default") is True), min(known, default="user"))


def _gather(call: Call, given: Arguments) -> list[str] | Ask | Answer:
    """The texts to run, in their order; without -c and -f the input."""
    texts: list[str] = []
    for name, value in given.values:
        if name in ("-c", "--command"):
            texts.append(value)
        elif name in ("-f", "--file") and value != "-":
            if value not in call.files:
                return Ask(files=(value,))
            data = call.files[value]
            if data is None:
                return Answer(stderr=f"psql: error: {value}: No such file or directory\n", status=1)
            texts.append(data.decode("utf-8", "surrogateescape"))
    if texts and not any(value == "-" for name, value in given.values if name in ("-f", "--file")):
        return texts
    if call.stdin is None:
        return Ask(stdin=True)
    return [*texts, call.stdin.decode("utf-8", "surrogateescape")]


class _Script(NamedTuple):
    """What was said so far."""

    layout: Layout
    said: str = ""
    errors: str = ""
    known: bool = True
    failed: bool = False
    over: bool = False
    state: State | None = None
    """A state that databases were made in or removed from."""


def _read_script(texts: list[str]) -> tuple[Piece, ...]:
    return tuple(piece for text in texts for piece in take_pieces(text))


def _run(pieces: tuple[Piece, ...], given: Arguments, state: State, database: str) -> Answer:
    stops = any(value.upper().startswith("ON_ERROR_STOP") for value in given.all_values("-v", "--set", "--variable"))
    # What one -c holds is one transaction, unless it begins one itself.
    begins = any(piece.text.lower().startswith(("begin", "start")) for piece in pieces)
    several = (
        given.has("-c", "--command") and len(pieces) > 1 and not begins and not any(one.is_command for one in pieces)
    )
    single = given.has("-1", "--single-transaction") or several
    quiet = given.has("-q", "--quiet")
    done = _Script(_layout(given))
    with open_session(state, database) as session:
        if single:
            session.execute("BEGIN")
        for piece in pieces:
            done = _do(piece, session, done._replace(failed=False), state, quiet)
            if done.over or (done.failed and (stops or single)):
                break
        if single and not done.failed:
            session.execute("COMMIT")
        after = session.read_state()
    if done.state is not None:
        after = {
            **after,
            **{kind: objects(done.state, kind) for kind in ("database", "table", "row") if kind in done.state},
        }
    by_command = given.has("-c", "--command")
    status = (3 if stops and not by_command else 1) if done.failed and (stops or single or by_command) else 0
    return Answer(done.said, done.errors, status, after, done.known)


def _layout(given: Arguments) -> Layout:
    return Layout(
        bare=given.has("-t", "--tuples-only"),
        unaligned=given.has("-A", "--no-align"),
        csv=given.has("--csv"),
        expanded=given.has("-x", "--expanded"),
        separator=given.value("-F", "--field-separator") or "|",
    )


_DATABASE = re.compile(r'(create|drop)\s+database\s+(?:if\s+exists\s+)?"?([\w-]+)"?.*', re.IGNORECASE | re.DOTALL)


def _do(piece: Piece, session: Session, done: _Script, state: State, quiet: bool) -> _Script:
    """The script after one more piece."""
    if piece.is_command:
        return _command(piece.text, session, done, state)
    if match := _DATABASE.fullmatch(piece.text):
        return _change_database(match[1].lower(), match[2], session, done, state)
    try:
        result = session.execute(piece.text)
    except Failure as failure:
        return _fail(done, f"ERROR:  {failure}\n", failure.known)
    return done._replace(said=done.said + show(result, done.layout, quiet))


def _fail(done: _Script, text: str, known: bool = True) -> _Script:
    return done._replace(errors=done.errors + text, known=done.known and known, failed=True)


def _change_database(verb: str, name: str, session: Session, done: _Script, state: State) -> _Script:
    before = done.state or state
    exists = name in objects(before, "database")
    if verb == "create":
        if exists:
            return _fail(done, f'ERROR:  database "{name}" already exists\n')
        return done._replace(said=done.said + "CREATE DATABASE\n", state=put(before, "database", name))
    if not exists:
        return _fail(done, f'ERROR:  database "{name}" does not exist\n')
    if name == session.database:
        return _fail(done, "ERROR:  cannot drop the currently open database\n")
    after = drop(before, "database", (name,))
    for kind in ("table", "row"):
        after = drop(after, kind, [one for one in objects(after, kind) if one.startswith(f"{name}.")])
    return done._replace(said=done.said + "DROP DATABASE\n", state=after)


def _command(text: str, session: Session, done: _Script, state: State) -> _Script:
    """One backslash command."""
    word, _, argument = text.partition(" ")
    argument = argument.strip().rstrip(";")
    layout = done.layout
    switches = {"x": layout._replace(expanded=not layout.expanded), "t": layout._replace(bare=not layout.bare),
                "a": layout._replace(unaligned=not layout.unaligned)}  # fmt: skip
    if word in switches:
        return done._replace(layout=switches[word])
    if word in ("timing", "set", "pset", "echo", "encoding"):
        return done._replace(said=done.said + (f"{argument}\n" if word == "echo" else ""))
    if word == "q":
        return done._replace(over=True)
    said = _list(word.rstrip("+"), argument, session, layout, state)
    if said is None:
        return _fail(done, f"invalid command \\{word}\nTry \\? for help.\n", known=False)
    return _fail(done, said) if said.startswith("Did not find") else done._replace(said=done.said + said)


def _list(word: str, argument: str, session: Session, layout: Layout, state: State) -> str | None:
    if word in ("l", "list"):
        return meta.list_databases(state, layout)
    if word == "dt" or (word == "d" and not argument):
        found = meta.list_tables(session, argument.removeprefix("public."), layout)
        return found or (
            f'Did not find any relation named "{argument}".\n' if argument else "Did not find any relations.\n"
        )
    if word == "d":
        return meta.describe_table(session, argument, layout) or f'Did not find any relation named "{argument}".\n'
    if word == "conninfo":
        return (
            f'You are connected to database "{session.database}" as user "user" via socket in "/var/run/postgresql".\n'
        )
    return meta.list_roles(layout) if word in ("du", "dg") else meta.list_schemas(layout) if word == "dn" else None
