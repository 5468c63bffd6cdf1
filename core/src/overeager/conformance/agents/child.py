"""A process in which a plugin is imported, and its functions called, while everything that it touches is noted.

Started as a script with little imported, so that what a plugin brings with it can be told from what was there. Reads a
pickled `Order` from the file named first and writes JSON to the one named second.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

_EFFECTS = ("socket.", "subprocess.", "shutil.", "tempfile.", "urllib.", "http.", "ftplib.", "sqlite3.connect",
            "os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.kill", "pty.", "webbrowser.",
            "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
            "os.chown", "os.utime", "os.setxattr", "os.chdir", "os.putenv", "os.unsetenv", "_thread.")  # fmt: skip
"""Audit events, by their beginnings, that leave something behind or reach out."""

_LOOKS = ("os.listdir", "os.scandir", "os.getxattr", "os.listxattr", "glob.", "os.walk")
"""Those that only look, which a pure function has no reason to."""

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

MARK = "\x1e"
"""Stands in both outputs between what importing printed and what the calls did."""

_MACHINERY = ("<frozen importlib", "<frozen zipimport")

_CLOCK = {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
          "process_time_ns", "thread_time", "localtime", "sleep", "clock_gettime", "clock_gettime_ns"}  # fmt: skip
_MOMENTS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"}
_CHANCE = {"Random.random", "Random.getrandbits", "Random.seed"}
_HARMLESS = {"fspath", "fsencode", "fsdecode", "strerror"}
"""Functions of `posix` that ask the system nothing; so do those whose name begins with `_path_`."""

Note = Callable[[str], None]


def main(order: str, answer: str) -> None:
    """Do what the order says."""
    with open(order, "rb") as file:
        told = json.load(file)
    sys.path[:] = told["path"]
    began = time.perf_counter()
    import_module("overeager.contract.door")  # what every plugin may import; its cost is not the plugin's
    own = time.perf_counter() - began
    said = {"import": _import(told["module"]), "own": own, "calls": [], "touched": []}
    _mark()
    if told["calls"]:
        adapter = getattr(import_module(told["module"]), told["attribute"])()
        calls = pickle.loads(bytes.fromhex(told["calls"]))
        touched: list[str] = []
        with _Watch(touched.append, reads=True):
            results = [_call(adapter, method, arguments) for method, arguments in calls]
        said |= {"calls": [_plain(result) for result in results], "touched": list(dict.fromkeys(touched))}
    with open(answer, "w") as file:
        json.dump(said, file)


def _mark() -> None:
    """Divide what was printed so far from what is printed later."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        stream.flush()
        os.write(number, MARK.encode())


def _import(module: str) -> dict[str, Any]:
    """What importing did, how long it took, and which other packages it brought."""
    before, loaded = _state(), set(sys.modules)
    touched: list[str] = []
    with _Watch(touched.append, reads=False):
        began = time.perf_counter()
        import_module(module)
        seconds = time.perf_counter() - began
    changed = [f"changes {name}" for name, was in before.items() if _state()[name] != was]
    brought = {name.partition(".")[0] for name in set(sys.modules) - loaded} - set(sys.stdlib_module_names)
    return {"effects": [*dict.fromkeys(touched), *changed], "seconds": seconds, "brought": sorted(brought)}


def _state() -> dict[str, object]:
    """What a process is by itself; compared before and after."""
    import signal
    import socket
    import warnings

    handlers = [repr(signal.getsignal(number)) for number in sorted(signal.valid_signals())]
    tasks = Path("/proc/self/task")  # has those too that a library started behind Python's back
    threads = len(list(tasks.iterdir())) if tasks.is_dir() else threading.active_count()
    return {
        "the environment": dict(os.environ),
        "the working directory": str(Path.cwd()),
        "the number of threads": threads,
        "the signal handlers": handlers,
        "the search path of modules": list(sys.path),
        "the filters of warnings": [repr(one) for one in warnings.filters],
        "the default time-out of sockets": socket.getdefaulttimeout(),
        "the trace or profile function": (sys.gettrace(), sys.getprofile()),
        "the limit of recursion": sys.getrecursionlimit(),
        "stdout or stderr": (id(sys.stdout), id(sys.stderr)),
    }


def _call(adapter: object, method: str, arguments: tuple[object, ...]) -> object:
    try:
        return getattr(adapter, method)(*arguments)
    except Exception as error:  # noqa: BLE001 - what it raises is what it answers
        return {"raised": f"{type(error).__name__}: {error}"}


class _Watch:
    """Notes what is touched while it is entered; `reads` = looking counts as well."""

    _hooked = False
    _now: _Watch | None = None

    def __init__(self, note: Note, reads: bool) -> None:
        self._note = note
        self._reads = reads
        self._environment = os.environ

    def __enter__(self) -> None:
        if not _Watch._hooked:
            sys.addaudithook(_hear)  # there is no way to take one out again
            _Watch._hooked = True
        _Watch._now = self
        if self._reads:
            self._put(_Environment(os.environ, self.tell))
            sys.setprofile(self._profile)

    def __exit__(self, *_: object) -> None:
        if self._reads:
            sys.setprofile(None)
            self._put(self._environment)
        _Watch._now = None

    @staticmethod
    def _put(environment: MutableMapping[str, str]) -> None:
        """What `os.getenv` and `os.environ` see from here on; the real environment stays as it is."""
        vars(os)["environ"] = environment

    def hear(self, event: str, arguments: tuple[Any, ...], frame: FrameType | None) -> None:
        """One audit event, and the frame that caused it."""
        if self._is_importing(frame):
            return
        if event == "open":
            path, _, flags = arguments
            writes = bool((flags or 0) & _WRITES)
            if (writes or self._reads) and not isinstance(path, int):
                self._note(f"{'writes' if writes else 'reads'} the file {os.fsdecode(path)}")
        elif event.startswith(_EFFECTS) or (self._reads and event.startswith(_LOOKS)):
            self._note(f"causes {event} {_short(arguments)}".rstrip())

    def tell(self, what: str) -> None:
        """Something noticed otherwise, by whoever called the caller."""
        if not self._is_importing(sys._getframe(2)):
            self._note(what)

    def _profile(self, frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and (what := _asks_the_system(called)) and not self._is_importing(frame):
            self._note(what)

    def _is_importing(self, frame: FrameType | None) -> bool:
        """Whether the import machinery itself does it; while functions are watched, whatever an import does."""
        return any(one.f_code.co_filename.startswith(_MACHINERY) for one in _frames(frame, all_of_them=self._reads))


class _Environment(MutableMapping[str, str]):
    """The environment, telling who reads it."""

    def __init__(self, real: MutableMapping[str, str], note: Note) -> None:
        self._real = real
        self._note = note

    def __getitem__(self, key: str) -> str:
        self._note(f"reads the variable {key}")
        return self._real[key]

    def __setitem__(self, key: str, value: str) -> None:
        self._note(f"sets the variable {key}")
        self._real[key] = value

    def __delitem__(self, key: str) -> None:
        self._note(f"unsets the variable {key}")
        del self._real[key]

    def __iter__(self) -> Iterator[str]:
        self._note("reads the whole environment")
        return iter(self._real)

    def __len__(self) -> int:
        return len(self._real)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    watch = _Watch._now
    # What is not of these beginnings is left at once: looking at a frame causes events too.
    if watch is not None and (event == "open" or event.startswith(_EFFECTS + _LOOKS)):
        watch.hear(event, arguments, sys._getframe(1))


def _asks_the_system(called: Any) -> str:
    """In words, for a C function that asks the system, the clock or chance; else empty."""
    module, name = getattr(called, "__module__", None), getattr(called, "__name__", "")
    qualified = getattr(called, "__qualname__", "")
    if (module == "time" and name in _CLOCK) or qualified in _MOMENTS:
        return f"reads the clock ({name})"
    if qualified in _CHANCE or (module == "posix" and name == "urandom"):
        return "asks for chance"
    if module == "_thread" and name.startswith("start_"):
        return "starts a thread"
    if module in ("posix", "pwd", "grp") and name not in _HARMLESS and not name.startswith("_path_"):
        return f"asks the system ({module}.{name})"
    return ""


def _frames(frame: FrameType | None, all_of_them: bool) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back if all_of_them else None


def _short(arguments: tuple[Any, ...]) -> str:
    return ", ".join(repr(one)[:80] for one in arguments[:3])


def _plain(value: Any) -> Any:
    """A result as JSON, so that two processes' results can be compared."""
    if hasattr(value, "_asdict"):
        return {type(value).__name__: {name: _plain(part) for name, part in value._asdict().items()}}
    if hasattr(value, "model_dump"):
        return {type(value).__name__: _plain(value.model_dump())}
    if hasattr(value, "items"):
        return {str(key): _plain(part) for key, part in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
