"""The kernel channel: from a seccomp notification to one record of `kernel.jsonl`.

What is left out, and only that: the sandbox's own set-up, up to the start of the first process that is not its first
(init); whatever bubblewrap's outer process does; the search for libraries and modules, that is a read-only open of
something that does not exist, by an absolute path below a system folder that is read-only for everybody (`/usr`,
`/bin`, `/sbin`, `/lib…`, `/sys`), which reads nothing and changes nothing; the libc's question to a name service
daemon (`/var/run/nscd/socket`), which is never there; the `sendmsg` of a shim to us; messages without an address; and
the signals that a process sends to its own threads.
"""

# ruff: noqa: PTH115, PTH116  # no Path for each link that is read

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from overeager.audit.journal import Journal, RecordFile, encode_fields
from overeager.audit.kernel.description import Describer
from overeager.audit.kernel.living import list_living
from overeager.audit.kernel.memory import Gone, Unreadable
from overeager.audit.kernel.origin import Origin
from overeager.audit.kernel.pump.library import Pump, PumpLibrary
from overeager.audit.kernel.syscalls import Call, Kind
from overeager.audit.kernel.target import Targets, read_status

_UNREADABLE = (OSError, ValueError, OverflowError, KeyError)
"""What a process that died or passed nonsense makes of our look at it."""
_ITS_OWN_FAULT = frozenset({errno.EBADF, errno.ENOENT, errno.ESRCH, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
"""What a call that must fail anyway, or a process that has ended, makes of our look."""


_WITHOUT_MEMORY = frozenset({"descriptor", "exit", "signal"})
"""Kinds whose description would not notice that the process of that number is another by now."""


_ENDING = frozenset({"exec", "exit", "thread"})
"""Kinds after which what was held of a process is of no use."""


_MOUNTING = frozenset({"fsmount", "move_mount", "open_tree", "open_tree_attr", "pivot_root", "umount2"})
"""Calls after which a path may mean another place to some, beside those of the kinds mount and text."""


class Sight(NamedTuple):
    """What is to be recorded of one call."""

    texts: tuple[str, ...]
    """The text between the braces of each record: opens are many, and making a dictionary of each and then text of
    that would be most of the cost."""
    error: int = 0
    """Why it could not be read."""
    missed: bool = False
    """Whether the call may have done something that is not in the record."""


class KernelChannel:
    """Reads the watched calls of one sandbox, each while its process waits for the answer."""

    def __init__(self, calls: Mapping[int, Call], targets: Targets, journal: Journal, origin: Origin) -> None:
        assert journal.kernel is not None
        self._calls = calls
        self._targets = targets
        self._describer = Describer(targets)
        self._journal = journal
        self._file: RecordFile = journal.kernel
        self._outer = origin.outer
        self._init = origin.init
        self._agent = 0
        self._moving: set[int] = set()
        """Threads whose change of root may not have come about yet."""
        self._pump: Pump | None = None
        self.missed = 0
        """Calls that the system would not let us look at."""

    @property
    def settled(self) -> bool:
        """Whether nobody is about to change what paths mean."""
        return not self._moving

    def use(self, library: PumpLibrary, origin: Origin, shims: int) -> Pump:
        """A compiled loop that goes on where we are; `shims` is the descriptor that it is to come back for, or -1."""
        self._pump = Pump(library, self._calls, origin, shims, self._journal)
        self._targets.hand_over(self._pump)
        return self._pump

    def take_over(self, pump: Pump) -> None:
        """The compiled loop has left a call to us."""
        self._init = pump.init

    def hand_back(self, pump: Pump) -> None:
        """Let the compiled loop go on: what we hold of processes will not be kept up to date."""
        self._targets.close()
        if self._agent and not pump.begun:
            pump.begin(self._agent, _mount_namespace(self._agent))

    def kind(self, number: int) -> Kind:
        """What the call is about."""
        return self._calls[number].kind

    def look(self, thread: int, number: int, arguments: Sequence[int]) -> Sight | None:
        """What is to be recorded of a call that waits for our answer; None = nothing."""
        call = self._calls[number]
        if not self._agent and not self._begins(thread, call):
            return None
        now = self._journal.now()
        try:
            process, text = self._tell(call, thread, arguments)
        except _UNREADABLE as error:
            return self._fail(error, now, call, thread)
        if text is None:
            return None
        told = f'"t":{now:.6f},"pid":{process},"call":"{call.name}",{text}'
        if call.kind == "exit" and process == self._agent:
            return Sight((self._list_left(now, process), told))
        return Sight((told,))

    def _fail(self, error: BaseException, now: float, call: Call, thread: int) -> Sight:
        number = getattr(error, "errno", None) or errno.EIO
        missed = number not in _ITS_OWN_FAULT and not (isinstance(error, Unreadable) and error.nonsense)
        process = self._targets.process_of(thread)
        return Sight((f'"t":{now:.6f},"pid":{process},"call":"{call.name}","error":{number}',), number, missed)

    def keep(self, sight: Sight, alive: bool) -> None:
        """Number the records and write them; `alive` tells whether the process took our answer."""
        self.missed += sight.missed and alive
        for text in sight.texts:
            whole = text if alive or sight.error else f'{text},"error":{errno.ENOENT}'
            self._file.write(f'{{"n":{self._journal.next()},{whole}}}\n')

    def _tell(self, call: Call, thread: int, arguments: Sequence[int]) -> tuple[int, str | None]:
        """The process, and what its call tells; looks afresh when what was known is of a process that has ended."""
        if self._moving:
            self._moving.discard(thread)
            self._targets.forget_roots()
            if self._pump is not None:
                self._pump.forget_roots()
        target = self._targets.get(thread)
        if target.process == self._outer:
            return target.process, None
        self._agent = self._agent or target.process
        if self._pump is not None and call.kind in _ENDING:
            self._pump.forget(thread, target.process)
        if call.kind == "thread":
            self._targets.forget_thread(thread)
            return target.process, None
        try:
            if call.kind in _WITHOUT_MEMORY:
                self._targets.memory(target).check()
            text = self._describer.describe(call, target, arguments)
        except Gone:
            self._targets.renew(thread)
            target = self._targets.get(thread)
            text = self._describer.describe(call, target, arguments)
        if text is not None and self._targets.is_new(target):
            text += "," + encode_fields(_origin(thread))
        if call.moves_root:
            self._moving.add(thread)
        if call.kind in ("mount", "text") or call.name in _MOUNTING:
            self._targets.watch_mounts(self._init)
        if call.kind == "exit":
            self._targets.forget(target)
        return target.process, text

    def _begins(self, thread: int, call: Call) -> bool:
        """The first process is the first to exec beside the outer one; the trial begins with the first other one."""
        if thread == self._outer:
            return False
        if not self._init:
            self._init = thread if call.kind == "exec" else 0
            return False
        return thread != self._init

    def _list_left(self, now: float, agent: int) -> str:
        """Who still lives when the agent leaves."""
        left = list_living(self._init, but=agent)
        told = encode_fields({"processes": [one._asdict() for one in left.processes], "cut": left.cut})
        return f'"t":{now:.6f},"pid":{agent},"call":"left",{told}'


def _origin(thread: int) -> dict[str, object]:
    """Where a process comes from; stands in its first record."""
    status = read_status(thread)
    origin = {"first": True, "ppid": status.parent, "sid": status.session}
    return origin | {"exe": os.readlink(f"/proc/{thread}/exe")}


def _mount_namespace(process: int) -> int:
    """Its number; 0 = it is not told."""
    try:
        return os.stat(f"/proc/{process}/ns/mnt").st_ino
    except OSError:
        return 0
