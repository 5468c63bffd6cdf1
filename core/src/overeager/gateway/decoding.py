"""Bytes of strangers made into values: JSON that can be written again, bodies that unpack to a bounded size."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable

from overeager import canonical


def decode_json(data: bytes) -> object:
    """The JSON value of `data`; raises ValueError, also for what canonical JSON cannot hold (NaN, abyssal nesting)."""
    try:
        value: object = json.loads(data, parse_constant=_refuse, parse_float=_finite)
        canonical.dump([[[[value]]]])  # with room for what a record wraps around it
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _refuse(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


class TooLarge(Exception):
    """A body is longer than the limit."""


def unpack(body: bytes, encodings: Iterable[str], limit: int) -> bytes:
    """`body` without its content encodings (gzip, deflate); raises ValueError, or TooLarge beyond `limit` bytes."""
    for encoding in encodings:
        if encoding in ("gzip", "x-gzip", "deflate"):
            body = _inflate(body, limit)
        elif encoding != "identity":
            raise ValueError(f"unknown content encoding {encoding}")
    return body


def _inflate(body: bytes, limit: int) -> bytes:
    inflater = zlib.decompressobj(wbits=47)  # 32 + 15: gzip or zlib, told by the first bytes
    try:
        text = inflater.decompress(body, limit + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if len(text) > limit:
        raise TooLarge
    if not inflater.eof:
        raise ValueError("the packed body is cut")
    return text
