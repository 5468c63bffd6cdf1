"""Imports a plugin in a process of its own first: one that hangs, kills its process or prints harms nobody."""

from __future__ import annotations

import os
import selectors
import signal
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, NoReturn

from overeager.errors import OvereagerError
from overeager.loading.discover import Found
from overeager.loading.examination import Examined, dump, parse
from overeager.loading.fault import Fault, broken

SECONDS = "OVEREAGER_IMPORT_SECONDS"
_USUAL_SECONDS = 15.0
_MOST_PRINTED = 1 << 16


def read_limit(environ: Mapping[str, str]) -> float:
    """Seconds that one plugin may take to import; raises PLG010."""
    text = environ.get(SECONDS, "")
    try:
        seconds = float(text or _USUAL_SECONDS)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86400:
        raise OvereagerError("PLG010", f"{SECONDS} is '{text}', no number of seconds", cure=f"for example {SECONDS}=30")
    return seconds


def probe(found: Found, seconds: float, examine: Callable[[Found], Examined | Fault]) -> Examined | Fault:
    """What `examine(found)` says in a forked process, within `seconds`; whatever that process started is ended.

    A plugin that takes longer, ends the process or writes to stdout behind Python's back is broken.
    """
    report_end, report = os.pipe()
    output_end, output = os.pipe()
    child = _fork()
    if child == 0:
        _be_child(found, report, output, examine)
    os.close(report)
    os.close(output)
    try:
        heard = _listen(report_end, output_end, time.monotonic() + seconds)
    finally:
        status = _end(child)
        os.close(report_end)
        os.close(output_end)
    return _conclude(found, heard, status, seconds)


class _Heard(NamedTuple):
    line: bytes
    """Whole when it ends with a newline."""
    printed: bytes
    ended: bool
    """False = time was up first."""


def _fork() -> int:
    with warnings.catch_warnings():
        # Python warns of forks beside threads; the child's imports may then wait for a lock, for which the limit stands
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _be_child(
    found: Found, report: int, output: int, examine: Callable[[Found], Examined | Fault]
) -> NoReturn:  # pragma: no cover
    """Never returns into the caller's stack, whatever the plugin does."""
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream, target in ((0, nothing), (1, output), (2, nothing)):
            os.dup2(target, stream)
        os.write(report, dump(_examine(found, examine)))
    finally:
        os._exit(0)


def _examine(found: Found, examine: Callable[[Found], Examined | Fault]) -> Examined | Fault:
    """Lets nothing escape: Ctrl-C does not arrive here, so a KeyboardInterrupt is the plugin's own."""
    try:
        return examine(found)
    except BaseException as error:  # noqa: BLE001 - what gets out of here would end the child without a word
        return broken(found, f"fails at import with {type(error).__name__}: {error}")


def _listen(report: int, output: int, deadline: float) -> _Heard:
    """Read until the report is whole or its writer is gone, then what is left of the output."""
    line, printed = b"", b""
    with selectors.DefaultSelector() as selector:
        selector.register(report, selectors.EVENT_READ)
        selector.register(output, selectors.EVENT_READ)
        while not line.endswith(b"\n") and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                data = os.read(key.fd, 1 << 16)
                if not data:
                    if key.fd == report:
                        return _Heard(line, printed + _rest(output), True)
                    selector.unregister(output)
                elif key.fd == report:
                    line += data
                else:
                    printed = (printed + data)[:_MOST_PRINTED]
    return _Heard(line, printed + _rest(output), line.endswith(b"\n"))


def _rest(output: int) -> bytes:
    os.set_blocking(output, False)
    with suppress(BlockingIOError):
        return os.read(output, _MOST_PRINTED)
    return b""


def _end(child: int) -> int:
    """Kill the child and all that it started in its session; gives its wait status."""
    for kill in (os.killpg, os.kill):  # its group is there from its first statement on; before that, itself
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _conclude(found: Found, heard: _Heard, status: int, seconds: float) -> Examined | Fault:
    if not heard.ended:
        cure = f"mend it, or --block-plugin {found.label}; a slower machine may need {SECONDS}={seconds * 4:g}"
        return broken(found, f"hangs at import: not done after {seconds:g} seconds", cure)
    if not heard.line.endswith(b"\n"):
        return broken(found, f"ends the process at import, {_told(status)}")
    result = parse(heard.line, found)
    if isinstance(result, Examined) and (text := heard.printed.decode("utf-8", "replace").strip()):
        return broken(found, f"prints during import: {text.splitlines()[0][:80]!r}", "take the print out")
    return result


def _told(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with suppress(ValueError):
            return f"by {signal.Signals(number).name}"
        return f"by signal {number}"
    return f"with exit status {os.WEXITSTATUS(status)}"
