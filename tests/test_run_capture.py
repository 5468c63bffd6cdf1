"""Streams: what comes is kept with its times, up to a limit and as long as the disk takes it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from overeager.run.capture import Capture

pytestmark = pytest.mark.pure


def capture_of(*texts: bytes, path: Path, limit: int = 1 << 20) -> Capture:
    """A capture that has read `texts`, one a time, to the end."""
    reader, writer = os.pipe()
    capture = Capture(reader, path, time.monotonic(), limit)
    for text in texts:
        os.write(writer, text)
        assert capture.read()
    os.close(writer)
    assert not capture.read()
    return capture


def test_every_line_has_the_time_at_which_it_was_whole(tmp_path: Path) -> None:
    kept = capture_of(b"one\ntw", b"o\nthree", path=tmp_path / "out").finish()
    assert kept.path.read_bytes() == b"one\ntwo\nthree"
    assert len(kept.times) == 2
    assert kept.times[0] <= kept.times[1]
    assert not kept.cut


def test_what_is_more_than_the_limit_is_cut_and_said(tmp_path: Path) -> None:
    kept = capture_of(b"12345", b"67890", path=tmp_path / "out", limit=7).finish()
    assert (kept.path.read_bytes(), kept.cut) == (b"1234567", True)


def test_a_full_disk_cuts_the_stream_and_its_writer_does_not_feel_it() -> None:
    assert capture_of(b"lost\n", b"lost too\n", path=Path("/dev/full")).finish().cut
