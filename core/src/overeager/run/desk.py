"""The desk: takes calls in the order in which they are whole, answers each from its state, and writes it down."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from overeager.actions.encodings import find_encoded, needles_of
from overeager.audit.shim.record import ShimRecord, decode
from overeager.audit.stand_in import asking
from overeager.contract.stand_in import Answer, Ask, Call, ObjectChange, Respond, State, compare
from overeager.run.replies import miss

_MOST_OUTPUT = 16 << 10
"""Characters that are recorded of each of stdout and stderr."""
_MOST_RAW = 4096
_MOST_DATA = 16 << 20
"""Bytes that one call may hand over in answer to one question."""
_MOST_ROUNDS = 8
"""Questions that a call may be asked."""
_MOST_OPEN = 200
"""Connections at once; others wait in the system's queue."""
_SECONDS = 20.0
"""In which a caller must say what it wants."""
_LAST_SECONDS = 5.0

Fields: TypeAlias = "dict[str, object]"


class Cast(NamedTuple):
    """One command: who answers for it, from which state, and the secrets in that."""

    respond: Respond
    state: State
    canaries: Mapping[str, str]


class _Said(NamedTuple):
    """An answer with what it changed."""

    answer: Answer
    changes: tuple[ObjectChange, ...]


class _Lost(Exception):
    """The caller said what no command says, or left."""


class Desk:
    """Answers for the commands of `cast`; each call is one line of the member at `path`, dated by `clock`."""

    def __init__(self, cast: Mapping[str, Cast], path: Path, clock: Callable[[], float]) -> None:
        self._cast, self._path, self._clock = cast, path, clock
        self._states = {command: one.state for command, one in cast.items()}
        self._open: dict[asyncio.Task[None], bool] = {}
        self.count = 0
        """Lines written."""
        self.broken = False
        """Whether a call was lost by a fault of ours."""

    def run(self, desk: socket.socket, wake: socket.socket) -> None:
        """Take calls at `desk` until `wake` says the end of file, then those that were made before that."""
        asyncio.run(self._run(desk, wake))

    async def _run(self, desk: socket.socket, wake: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        taking = loop.create_task(self._take_all(desk))
        wake.setblocking(False)
        await loop.sock_recv(wake, 1)
        taking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await taking
        with contextlib.suppress(BlockingIOError):
            while True:
                self._take(desk.accept()[0])
        if self._open:
            await asyncio.wait(self._open, timeout=_LAST_SECONDS)
        for task in list(self._open):
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)

    async def _take_all(self, desk: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(desk)
            self._take(connection)
            await self._make_room()

    async def _make_room(self) -> None:
        """Wait until not too many are open; where none of them gets on, the oldest has hung and is given up."""
        while len(self._open) >= _MOST_OPEN:
            done, _ = await asyncio.wait(self._open, timeout=1, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                next(iter(self._open)).cancel()
                await asyncio.sleep(0)

    def _take(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        task = asyncio.get_running_loop().create_task(self._attend(connection))
        self._open[task] = True
        task.add_done_callback(lambda done: self._open.pop(done, None))

    async def _attend(self, connection: socket.socket) -> None:
        pid = asking.peer(connection)
        reader, writer = await asyncio.open_connection(sock=connection, limit=asking.MOST_BODY)
        try:
            await self._converse(pid, reader, writer)
        except Exception:  # noqa: BLE001  # the member must not look whole when we broke
            self.broken = True
        finally:
            writer.close()

    async def _converse(self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            told, call = await asyncio.wait_for(_read_call(reader), _SECONDS)
        except (_Lost, TimeoutError) as fault:
            self._write({"pid": pid, "raw": str(fault)[:_MOST_RAW]})
            return
        except asyncio.CancelledError:
            self._write({"pid": pid, "raw": ""})
            raise
        common: Fields = {
            "pid": pid,
            "command": told.command,
            "argv": list(told.argv),
            "cwd": told.cwd,
            "cut": told.cut,
        }
        answer = None
        try:
            answer = await self._find_answer(call, reader, writer)
        except _Lost:
            return
        finally:
            if answer is None:
                self._write({**common, "status": None, "known": True, "changes": [], "shows": []})
        self._note(common, *answer)
        with contextlib.suppress(_Lost, OSError):
            await _give(answer.answer, reader, writer)

    async def _find_answer(self, call: Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> _Said:
        for _ in range(_MOST_ROUNDS):
            said = self._respond(call)
            if isinstance(said, _Said):
                return said
            call = await _look_up(said, call, reader, writer)
        return _Said(miss(call), ())

    def _respond(self, call: Call) -> _Said | Ask:
        """What the stand-in says, its new state taken over; a fault of its is a miss."""
        one = self._cast.get(call.argv[0])
        if one is None:
            return _Said(miss(call), ())
        before = self._states[call.argv[0]]
        try:
            answer = one.respond(call, before)
            if isinstance(answer, Ask):
                return answer
            changes = () if answer.state is None else compare(before, answer.state)
        except Exception:  # noqa: BLE001  # an author's fault must not end the others' answers; it shows as a miss
            return _Said(miss(call), ())
        if answer.state is not None:
            self._states[call.argv[0]] = answer.state
        return _Said(answer, changes)

    def _note(self, common: Fields, answer: Answer, changes: tuple[ObjectChange, ...]) -> None:
        """Write what was answered and what that changed, before anybody hears of it."""
        command = str(common["command"])
        one = self._cast.get(command)
        said = f"{answer.stdout}{answer.stderr}".encode("utf-8", "surrogateescape")
        shows = [
            place for place, canary in (one.canaries.items() if one else ()) if find_encoded(said, needles_of(canary))
        ]
        self._write(
            {
                **common,
                "status": None if answer.execute else answer.status,
                "known": answer.known,
                "changes": [change._asdict() | {"object": f"{command}:{change.object}"} for change in changes],
                "shows": sorted(shows),
                "stdout": answer.stdout[:_MOST_OUTPUT],
                "stderr": answer.stderr[:_MOST_OUTPUT],
                **({"execute": list(answer.execute)} if answer.execute else {}),
            }
        )

    def _write(self, fields: Fields) -> None:
        line = json.dumps({"t": round(self._clock(), 6), **fields}, sort_keys=True, separators=(",", ":"))
        with self._path.open("a") as file:
            file.write(line + "\n")
        self.count += 1


async def _read_call(reader: asyncio.StreamReader) -> tuple[ShimRecord, Call]:
    kind, body, _ = await _read_frame(reader)
    told = decode(body) if kind == b"c" else None
    if told is None or not told.argv:
        raise _Lost(os.fsdecode(body))
    kind, body, _ = await _read_frame(reader)
    if kind != b"e":
        raise _Lost(os.fsdecode(body))
    return told, Call((told.command, *told.argv[1:]), told.cwd or "/", asking.decode_environment(body))


async def _read_frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes, int]:
    start = b""
    try:
        start = await reader.readexactly(asking.HEAD_SIZE)
        head = asking.decode_head(start)
        if head is None:
            raise _Lost(os.fsdecode(start))
        return head.kind, await reader.readexactly(head.size), head.error
    except (asyncio.IncompleteReadError, OSError) as fault:
        partial = fault.partial if isinstance(fault, asyncio.IncompleteReadError) else b""
        raise _Lost(os.fsdecode(start + partial)) from fault


async def _look_up(ask: Ask, call: Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Call:
    """The call with what was asked for."""
    files, folders, stdin = dict(call.files), dict(call.folders), call.stdin
    if (ask.stdin or ask.line) and stdin is None:
        stdin, _ = await _fetch(b"r" if ask.stdin else b"i", "", reader, writer)
    for path in ask.files:
        data, error = await _fetch(b"r", path, reader, writer)
        files[path] = None if error else data
    for path in ask.folders:
        data, error = await _fetch(b"l", path, reader, writer)
        folders[path] = None if error else asking.decode_folder(data)
    return call._replace(stdin=stdin, files=files, folders=folders)


async def _fetch(
    kind: bytes, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> tuple[bytes, int]:
    if "\0" in path or (not path and kind == b"l"):
        return b"", errno.ENOENT
    writer.write(asking.encode(kind, os.fsencode(path)))
    await writer.drain()
    data = bytearray()
    while True:
        got, body, error = await _read_frame(reader)
        if got == b"z":
            return bytes(data), error
        if got != b"d" or len(data) > _MOST_DATA:
            raise _Lost(os.fsdecode(body))
        data += body


async def _give(answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Let the command do and say what the answer holds; what it cannot write ends it like any program."""
    for path, content in answer.writes:
        writer.write(asking.encode(b"w", os.fsencode(path) + (b"" if path.endswith("/") else b"\0" + content)))
        await writer.drain()
        _, _, error = await _read_frame(reader)
        if error and not (path.endswith("/") and error == errno.EEXIST):
            answer = Answer(stderr=f"{path}: {os.strerror(error)}\n", status=1)
            break
    if answer.execute:
        writer.write(asking.encode(b"x", b"".join(os.fsencode(word) + b"\0" for word in answer.execute)))
    for kind, text in ((b"1", answer.stdout), (b"2", answer.stderr)):
        if text:
            writer.write(asking.encode(kind, text.encode("utf-8", "surrogateescape")))
    writer.write(asking.encode(b"q", bytes([answer.status & 0xFF])))
    await writer.drain()
    await reader.read(1)  # the command leaves, and with it the stream; what it was sent is not thrown away before
