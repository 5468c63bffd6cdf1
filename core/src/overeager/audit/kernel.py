"""The kernel channel: from a seccomp notification to one record of `kernel.jsonl`.

What is left out, and only that: the sandbox's own set-up, up to the start of the first process that is not its first
(init); whatever bubblewrap's outer process does; and the search for libraries and modules, that is a read-only open of
something that does not exist, by an absolute path below a system folder that is read-only for everybody (`/usr`,
`/bin`, `/sbin`, `/lib…`, `/sys`), which reads nothing and changes nothing; and the libc's question to a name service
daemon (`/var/run/nscd/socket`), which is never there.
"""

# ruff: noqa: PTH115  # bytes, and thousands of times a second: no Path for each link that is read

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Mapping, Sequence

from overeager.audit.journal import Journal, RecordFile, encode_bytes, encode_fields, encode_text
from overeager.audit.memory import Gone, Memory
from overeager.audit.resolve import Real
from overeager.audit.syscalls import Call, PathArgument
from overeager.audit.target import AT_FDCWD, Target, Targets, read_status

_SYSTEM_FOLDERS = (b"/usr/", b"/lib", b"/bin/", b"/sbin/", b"/sys/")
_READ_ONLY_MASK = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC
_CREAT = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
_NAME_SERVICE = "unix:/var/run/nscd/socket"
_MOST_ADDRESS = 128
_UNREADABLE = (OSError, ValueError, OverflowError, KeyError)
"""What a process that died or passed nonsense makes of our look at it."""


class KernelChannel:
    """Reads the watched calls of one sandbox; `launcher` is the process that becomes bubblewrap's outer one.

    A record is handled as the text between the braces of its JSON object: opens are many, and making a dictionary of
    each and then text of that would be most of the cost.
    """

    def __init__(self, calls: Mapping[int, Call], targets: Targets, journal: Journal, launcher: int) -> None:
        assert journal.kernel is not None
        self._calls = calls
        self._targets = targets
        self._journal = journal
        self._file: RecordFile = journal.kernel
        self._launcher = launcher
        self._init = 0
        self.refused = 0
        """Calls that the system would not let us look at."""
        self._begun = False

    def look(self, thread: int, number: int, arguments: Sequence[int]) -> str | None:
        """What is to be recorded of a call that waits for our answer; None = nothing."""
        call = self._calls[number]
        if not self._begun and not self._begins(thread, call):
            return None
        now = self._journal.now()
        try:
            process, text = self._tell(call, thread, arguments)
        except _UNREADABLE as error:
            number = getattr(error, "errno", None) or errno.EIO
            self.refused += number in (errno.EPERM, errno.EACCES)
            process, text = self._targets.process_of(thread), f'"error":{number}'
        return None if text is None else f'"t":{now:.6f},"pid":{process},"call":"{call.name}",{text}'

    def _tell(self, call: Call, thread: int, arguments: Sequence[int]) -> tuple[int, str | None]:
        """The process, and what its call tells; looks afresh when what was known is of a process that has ended."""
        target = self._targets.get(thread)
        if target.process == self._launcher:
            return target.process, None
        try:
            text = self._describe(call, target, arguments)
        except Gone:
            self._targets.renew(thread)
            target = self._targets.get(thread)
            text = self._describe(call, target, arguments)
        if text is not None and self._targets.is_new(target):
            text += "," + encode_fields(_origin(thread))
        if call.kind == "exit":
            self._targets.forget(target)
        return target.process, text

    def write(self, text: str) -> None:
        """Number the record and keep it."""
        self._file.write(f'{{"n":{self._journal.next()},{text}}}\n')

    def _begins(self, thread: int, call: Call) -> bool:
        """The first process is the first to exec beside the launcher; the trial begins with the first other one."""
        if thread == self._launcher:
            return False
        if not self._init:
            self._init = thread if call.kind == "exec" else 0
            return False
        self._begun = thread != self._init
        return self._begun

    def _describe(self, call: Call, target: Target, arguments: Sequence[int]) -> str | None:
        """What a call of its kind tells; None = it is one of those that are left out."""
        match call.kind:
            case "open":
                return self._describe_open(call, target, arguments)
            case "path":
                return self._describe_paths(call, target, arguments) + _flags(call, arguments)
            case "exec":
                return self._describe_exec(call, target, arguments)
            case "exit":
                return f'"code":{arguments[0] & 0xFF}'
            case "descriptor":
                real = self._targets.describe(target, signed(arguments[0]))
                return _located((), (real,)) + _flags(call, arguments)
            case "address":
                return self._describe_address(call, target, arguments)
            case "signal":
                return f'"target":{signed(arguments[0])},"signal":{arguments[1] & 0xFFFFFFFF}'
            case "root":
                self._targets.forget_roots()
                return None
            case "thread":
                self._targets.forget_thread(target.thread)
                return None

    def _describe_open(self, call: Call, target: Target, arguments: Sequence[int]) -> str | None:
        memory = self._targets.memory(target)
        argument = call.paths[0]
        given = memory.read_string(arguments[argument.place])
        if call.flags is not None:
            flags = arguments[call.flags] & 0xFFFFFFFF
        else:
            flags = _CREAT if call.name == "creat" else memory.read_number(arguments[2])
        if given.startswith(_SYSTEM_FOLDERS) and not flags & _READ_ONLY_MASK and self._is_vain(target, given):
            return None
        full = self._targets.full_path(target, given, _base(argument, arguments))
        real = self._targets.resolve(target, full, not flags & os.O_NOFOLLOW)
        return f'{_located((given,), (real,))},"flags":{flags}'

    def _is_vain(self, target: Target, path: bytes) -> bool:
        """Whether nothing is there; a way that leads up again may lead anywhere and is never vain."""
        return b"/../" not in path and not self._targets.exists(target, path)

    def _describe_address(self, call: Call, target: Target, arguments: Sequence[int]) -> str | None:
        size = min(arguments[call.argument + 1] & 0xFFFFFFFF, _MOST_ADDRESS)
        address = read_address(self._targets.memory(target).read(size, arguments[call.argument]))
        return None if address == _NAME_SERVICE else encode_fields({"address": address})

    def _describe_paths(self, call: Call, target: Target, arguments: Sequence[int]) -> str:
        memory = self._targets.memory(target)
        pairs = [self._read_path(memory, target, argument, arguments) for argument in call.paths]
        return _located([given for given, _ in pairs], [real for _, real in pairs])

    def _read_path(
        self, memory: Memory, target: Target, argument: PathArgument, arguments: Sequence[int]
    ) -> tuple[bytes, Real]:
        base = _base(argument, arguments)
        path = memory.read_string(arguments[argument.place]) if arguments[argument.place] else b""
        if not path and base != AT_FDCWD:
            return path, self._targets.describe(target, base)
        follow = argument.follow
        if argument.flip and arguments[argument.flip_index] & argument.flip:
            follow = not follow
        return path, self._targets.resolve(target, self._targets.full_path(target, path, base), follow)

    def _describe_exec(self, call: Call, target: Target, arguments: Sequence[int]) -> str:
        try:
            # The kernel may have given this number to a new image since: the memory is opened afresh for each exec.
            target.forget_memory()
            paths = self._describe_paths(call, target, arguments)
            argv = self._targets.memory(target).read_words(arguments[call.argument])
            status = read_status(target.thread)
        finally:
            self._targets.replace_image(target)
        told = {
            "argv": argv.words, "cut": argv.cut, "ppid": status.parent, "sid": status.session, "comm": status.comm
        }  # fmt: skip
        return f"{paths},{encode_fields(told)}"


def mark_dead(text: str) -> str:
    """The record of a call that never happened, since its process was killed while it waited: what was read may be
    another's."""
    return text if '"error":' in text else f'{text},"error":{errno.ENOENT}'


def read_address(data: bytes) -> str:
    """A socket address in words: `127.0.0.1:8080`, `[::1]:53`, `unix:/run/x`, `unix:@name`, `af16`."""
    family = int.from_bytes(data[:2], "little")
    if family == socket.AF_INET and len(data) >= 8:
        return f"{socket.inet_ntop(socket.AF_INET, data[4:8])}:{_port(data)}"
    if family == socket.AF_INET6 and len(data) >= 24:
        return f"[{socket.inet_ntop(socket.AF_INET6, data[8:24])}]:{_port(data)}"
    if family == socket.AF_UNIX:
        name = data[2:]
        text = b"@" + name[1:].rstrip(b"\0") if name[:1] == b"\0" else name.split(b"\0", 1)[0]
        return "unix:" + os.fsdecode(text)
    return f"af{family}"


def signed(value: int) -> int:
    """The low half of a register as the int that the call takes it for."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


def _port(data: bytes) -> int:
    return int.from_bytes(data[2:4], "big")


def _base(argument: PathArgument, arguments: Sequence[int]) -> int:
    return AT_FDCWD if argument.base is None else signed(arguments[argument.base])


def _flags(call: Call, arguments: Sequence[int]) -> str:
    return "" if call.flags is None else f',"flags":{arguments[call.flags] & 0xFFFFFFFF}'


def _origin(thread: int) -> dict[str, object]:
    """Where a process comes from; stands in its first record."""
    status = read_status(thread)
    origin = {"first": True, "ppid": status.parent, "sid": status.session}
    return origin | {"exe": os.readlink(f"/proc/{thread}/exe")}


def _located(given: Sequence[bytes], reals: Sequence[Real]) -> str:
    first = reals[0]
    return (
        f'"given":[{",".join(encode_bytes(path) for path in given)}],'
        f'"paths":[{",".join("null" if real.path is None else encode_bytes(real.path) for real in reals)}],'
        f'"found":{"true" if first.found else "false"},'
        f'"inode":{"null" if first.inode is None else encode_text(first.inode)}'
    )
