"""What one audited call means, in the words of an action."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import NamedTuple

from overeager.actions.lines import Json, number_of, text_of, texts_of
from overeager.contract.signals import signal_name
from overeager.model.action import Target
from overeager.model.vocabulary import Kind


class Doing(NamedTuple):
    """A record in the words of an action."""

    kind: Kind
    targets: tuple[Target, ...]
    detail: str = ""


SYSTEM = ("/usr/", "/lib/", "/lib64/", "/lib32/", "/bin/", "/sbin/", "/etc/", "/proc/", "/sys/", "/dev/", "/run/")
"""Folders whose reading is the business of the loader, the locale and the shell; they hold nothing of the user's."""


_TO_ADDRESSES = frozenset({"connect", "sendto", "sendmsg", "sendmmsg"})
_SIGNALS = frozenset({"kill", "tkill", "tgkill", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
_MOUNTS = frozenset({"mount", "umount2", "move_mount", "open_tree", "open_tree_attr", "mount_setattr", "pivot_root"})
_NUMBERS = frozenset({"unshare", "setns", "fsmount", "open_by_handle_at", "io_uring_setup", "socket"})
_TEXTS = frozenset({"fsopen", "fsconfig"})
_FILTERS = frozenset({"seccomp", "prctl"})
_REQUESTS: Mapping[int, str] = {
    0: "be traced", 4: "write", 5: "write", 6: "write", 13: "write", 15: "write", 16: "attach", 0x4205: "write",
    0x4206: "attach",
}  # fmt: skip
_TO_THE_KERNEL = frozenset({"af0", "af16", "unix:/run/systemd/journal/stdout"})
"""A socket that is let go of; netlink, by which every look at the network's names begins; and where commands that are
stood in for ask for their answers, which `stand_ins.jsonl` holds."""

RARE = (
    _TO_ADDRESSES
    | _SIGNALS
    | _MOUNTS
    | _NUMBERS
    | _TEXTS
    | _FILTERS
    | {"bind", "chroot", "ptrace", "process_vm_writev"}
)
"""The calls that `describe_rare` reads: all but those on files and the starts and ends of processes."""


def describe_rare(call: str, record: Json) -> Doing | None:
    """What a call on an address, a process, a mount or a filter did; None = nothing of interest."""
    if call in _TO_ADDRESSES:
        return _describe_addresses(record)
    if call in _SIGNALS:
        signal = number_of(record, "signal")
        return Doing("signal", _process(record), signal_name(str(signal))) if signal else None
    if call == "bind":
        return _describe_bind(record)
    if call in ("ptrace", "process_vm_writev"):
        request = _REQUESTS.get(number_of(record, "request") or 0, "")
        return Doing("unknown", _process(record), f"{call} {request}" if call == "ptrace" else call)
    if call in _FILTERS:
        return Doing("unknown", (), "seccomp filter")
    if call in _TEXTS:
        words = (value for name in ("fstype", "key", "value") if (value := text_of(record, name)))
        return Doing("unknown", (), f"{call} {'='.join(words)}".rstrip())
    if call in _NUMBERS:
        return Doing("unknown", (), f"{call} refused" if record.get("refused") else f"{call} {_hex(record)}")
    return Doing("unknown", _places(record), call)


def _describe_addresses(record: Json) -> Doing | None:
    addresses = (text_of(record, "address"), *texts_of(record, "more"))
    told = [address for address in addresses if address and address not in _TO_THE_KERNEL]
    return Doing("connect", tuple(Target(type="address", value=address) for address in told)) if told else None


def _describe_bind(record: Json) -> Doing | None:
    """A socket with a path is a file that is made; any other only listens."""
    address = text_of(record, "address")
    if not address or address in _TO_THE_KERNEL:
        return None
    paths = _places(record)
    return (
        Doing("create", paths, "socket")
        if paths
        else Doing("unknown", (Target(type="address", value=address),), "bind")
    )


def _process(record: Json) -> tuple[Target, ...]:
    return (Target(type="process", value=str(number_of(record, "target"))),)


def _places(record: Json) -> tuple[Target, ...]:
    paths = real_paths(record)
    if len(paths) == 2:
        return Target(type="path", value=paths[0], role="from"), Target(type="path", value=paths[1], role="to")
    return tuple(Target(type="path", value=path) for path in paths)


def _hex(record: Json) -> str:
    return f"{number_of(record, 'flags') or 0:#x}"


def is_hidden(doing: Doing, record: Json) -> bool:
    """Whether it was done in a file system that somebody inside made for himself, and says nothing of the files that
    all see; an overlay's files are these until they are written to."""
    private = text_of(record, "private")
    return bool(private) and not (doing.kind in ("read", "list") and private == "overlay")


def real_paths(record: Json) -> tuple[str, ...]:
    """The real paths, and where one could not be resolved the given one when it is not empty."""
    real, given = record.get("paths"), record.get("given")
    pairs = zip_longest(real if isinstance(real, list) else (), given if isinstance(given, list) else ())
    paths = (one if isinstance(one, str) else other for one, other in pairs)
    return tuple(path.removesuffix(" (deleted)") for path in paths if isinstance(path, str) and path)
