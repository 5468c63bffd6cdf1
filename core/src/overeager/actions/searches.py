"""Opens that are no doing, told by their bytes: of a real agent's kernel records nine in ten, and not worth decoding.

A runtime that looks through the time zones or its own modules makes thousands. Only what the recorder writes for a
plain read of the system's own files is known here; anything else, however little it differs, is read as it always was.
"""

from __future__ import annotations

import re

from overeager.actions.calls import SYSTEM

_NUMBER = rb"(?:0|[1-9][0-9]{0,14})"
_TEXT = rb'"[ !#-\[\]-~]*"'
_FOLDERS = "|".join(re.escape(folder) for folder in SYSTEM).encode()
_SEARCH = re.compile(
    rb'\{"n":%(number)b,"t":%(number)b\.[0-9]{1,15},"pid":(?P<pid>%(number)b),"call":"open(?:at2?)?",'
    rb'"given":\[%(text)b\],"paths":\["(?:%(folders)b)[ !#-\[\]-~]*"\],"found":true,"inode":"[0-9:]*",'
    rb'"flags":(?P<flags>%(number)b)\}' % {b"number": _NUMBER, b"text": _TEXT, b"folders": _FOLDERS}
)

_ANYTHING_BUT_READING = 0o3 | 0o100 | 0o1000 | 0o20000000
"""O_ACCMODE, O_CREAT, O_TRUNC and O_TMPFILE's own bit."""


class Searches:
    """Tells the lines of one kernel member that show nothing: reads below the system's folders, by processes that an
    earlier line has shown."""

    def __init__(self, home: str) -> None:
        self._nowhere = home.startswith(SYSTEM)
        self._known: set[bytes] = set()

    def __call__(self, line: bytes) -> bool:
        found = _SEARCH.fullmatch(line)
        if found is None or self._nowhere or int(found["flags"]) & _ANYTHING_BUT_READING:
            return False
        known = found["pid"] in self._known
        self._known.add(found["pid"])
        return known
