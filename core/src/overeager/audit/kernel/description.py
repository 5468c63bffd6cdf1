"""What a call that waits for our answer is about, as the fields of its record."""

from __future__ import annotations

import os
from collections.abc import Sequence

from overeager.audit.journal import encode_bytes, encode_fields, encode_text
from overeager.audit.kernel.address import fetch_address, fetch_message, fetch_messages
from overeager.audit.kernel.memory import Memory
from overeager.audit.kernel.resolve import Real
from overeager.audit.kernel.syscalls import Call, PathArgument
from overeager.audit.kernel.target import AT_FDCWD, Target, Targets, read_status

_SYSTEM_FOLDERS = (b"/usr/", b"/lib", b"/bin/", b"/sbin/", b"/sys/")
_READ_ONLY_MASK = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC
_CREAT = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
_NAME_SERVICE = "unix:/var/run/nscd/socket"
"""The libc's question to a daemon that is never there."""
_MEETING = "unix:/run/systemd/notify"
"""Where the shims find us, by `sendmsg`; what else comes there is told."""
_MS_BIND, _MS_MOVE = 0x1000, 0x2000
_MS_SAME_PLACE = 0x20 | 0xE0000
"""MS_REMOUNT, and MS_UNBINDABLE, MS_PRIVATE, MS_SLAVE: nothing is mounted."""
_SET_TEXTS = frozenset({1, 3, 4})
"""FSCONFIG_SET_STRING, …_PATH, …_PATH_EMPTY."""
_MOST_TEXT = 1024


class Describer:
    """Reads calls by what `targets` knows of their processes."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def describe(self, call: Call, target: Target, arguments: Sequence[int]) -> str | None:
        """What a call of its kind tells; None = it is one of those that are left out.

        Raises OSError when the process is gone or cannot be read, Gone when its number may be another's now.
        """
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
            case "message":
                return self._describe_message(call, target, arguments)
            case "signal":
                return self._describe_signal(call, target, arguments)
            case "process":
                return _describe_process(call, arguments)
            case "mount":
                return self._describe_mount(call, target, arguments)
            case "text":
                return self._describe_text(call, target, arguments)
            case "number":
                operation = f'"operation":{arguments[0] & 0xFFFFFFFF},' if call.asked else ""
                return operation + _flags(call, arguments).removeprefix(",")
            case "refused":
                return '"refused":true'
            case "thread":
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
        memory, at = self._targets.memory(target), call.argument
        address = fetch_address(memory, arguments[at], arguments[at + 1])
        if address == _NAME_SERVICE:
            return None
        if call.name == "bind" and address.startswith("unix:") and not address.startswith("unix:@"):
            given = os.fsencode(address.removeprefix("unix:"))
            real = self._targets.resolve(target, self._targets.full_path(target, given, AT_FDCWD), False)
            return f'"address":{encode_text(address)},{_located((given,), (real,))}'
        return f'"address":{encode_text(address)}'

    def _describe_message(self, call: Call, target: Target, arguments: Sequence[int]) -> str | None:
        memory, headers = self._targets.memory(target), arguments[call.argument]
        if call.name == "sendmsg":
            addresses = fetch_message(memory, headers)
        else:
            addresses = fetch_messages(memory, headers, arguments[2])
        told = [address for address in addresses if address != _MEETING]
        if not told:
            return None
        more = {"more": told[1:]} if told[1:] else {}
        return encode_fields({"address": told[0], **more})

    def _describe_signal(self, call: Call, target: Target, arguments: Sequence[int]) -> str | None:
        """Signals of a process to its own threads are its own business (runtimes stop themselves so)."""
        match call.name:
            case "tgkill" | "rt_tgsigqueueinfo":
                process, number = signed(arguments[0]), arguments[2]
                if process == target.inner:
                    return None
            case "tkill":
                process, number = signed(arguments[0]), arguments[1]
                if process == read_status(target.thread).inner_thread:
                    return None
            case "pidfd_send_signal":
                process, number = self._targets.owner(target, signed(arguments[0])), arguments[1]
            case _:
                process, number = signed(arguments[0]), arguments[1]
        return f'"target":{process},"signal":{number & 0xFFFFFFFF}'

    def _describe_mount(self, call: Call, target: Target, arguments: Sequence[int]) -> str:
        memory, flags = self._targets.memory(target), arguments[3]
        source, place = call.paths
        if flags & (_MS_BIND | _MS_MOVE) and not flags & _MS_SAME_PLACE:
            return self._describe_paths(call, target, arguments) + _flags(call, arguments)
        given, real = self._read_path(memory, target, place, arguments)
        texts: dict[str, object] = {}
        if not flags & _MS_SAME_PLACE:
            pointers = (("source", arguments[source.place]), ("fstype", arguments[2]), ("data", arguments[4]))
            texts = {name: os.fsdecode(memory.read_string(at, _MOST_TEXT)) for name, at in pointers if at}
        told = "," + encode_fields(texts) if texts else ""
        return _located((given,), (real,)) + _flags(call, arguments) + told

    def _describe_text(self, call: Call, target: Target, arguments: Sequence[int]) -> str:
        memory = self._targets.memory(target)
        names = ("fstype",) if call.name == "fsopen" else ("key", "value")
        if call.name == "fsconfig" and arguments[1] & 0xFFFFFFFF not in _SET_TEXTS:
            names = ("key",)
        pointers = zip(names, arguments[call.argument :], strict=False)
        texts = {name: os.fsdecode(memory.read_string(at, _MOST_TEXT)) for name, at in pointers if at}
        return encode_fields({**texts, "flags": arguments[1] & 0xFFFFFFFF})

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


def signed(value: int) -> int:
    """The low half of a register as the int that the call takes it for."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


def _describe_process(call: Call, arguments: Sequence[int]) -> str:
    request = "" if call.flags is None else f'"request":{arguments[call.flags] & 0xFFFFFFFF},'
    return f'{request}"target":{signed(arguments[call.argument])}'


def _base(argument: PathArgument, arguments: Sequence[int]) -> int:
    return AT_FDCWD if argument.base is None else signed(arguments[argument.base])


def _flags(call: Call, arguments: Sequence[int]) -> str:
    return "" if call.flags is None else f',"flags":{arguments[call.flags] & 0xFFFFFFFF}'


def _located(given: Sequence[bytes], reals: Sequence[Real]) -> str:
    first = reals[0]
    return (
        f'"given":[{",".join(encode_bytes(path) for path in given)}],'
        f'"paths":[{",".join("null" if real.path is None else encode_bytes(real.path) for real in reals)}],'
        f'"found":{"true" if first.found else "false"},'
        f'"inode":{"null" if first.inode is None else encode_text(first.inode)}'
        + next((f',"private":{encode_text(real.private)}' for real in reals if real.private), "")
    )
