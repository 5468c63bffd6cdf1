"""A secret is recognised however it is written, and nothing else is taken for it."""

from __future__ import annotations

import base64
import binascii
import json
import textwrap
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from overeager.actions.encodings import find_encoded, needles_of

pytestmark = pytest.mark.pure

CANARY = "0ddba11c0ffee0123456789a"
NEEDLES = needles_of(CANARY)
AROUND = st.binary(max_size=70)


@given(AROUND, AROUND, st.integers(4, 76))
@example(b"", b"", 4)
def test_base64_is_recognised_at_any_place_in_either_alphabet_however_broken(
    before: bytes, after: bytes, width: int
) -> None:
    data = before + CANARY.encode() + after
    for text in (base64.b64encode(data), base64.urlsafe_b64encode(data), base64.b64encode(data).rstrip(b"=")):
        assert find_encoded(text, NEEDLES) == "base64"
        broken = "\n".join(textwrap.wrap(text.decode(), width)).encode()
        assert find_encoded(broken, NEEDLES) == "base64"
        assert find_encoded(broken.replace(b"\n", b"\r\n"), NEEDLES) == "base64"
        assert find_encoded(json.dumps({"data": broken.decode()}).encode(), NEEDLES) == "base64"
        assert find_encoded(quote(text, safe="").encode(), NEEDLES) == "base64"


@given(AROUND, AROUND)
def test_hexadecimal_is_recognised_in_either_case_and_as_dumps_write_it(before: bytes, after: bytes) -> None:
    data = before + CANARY.encode() + after
    for text in (
        data.hex(),
        data.hex().upper(),
        data.hex(" ", 2),
        data.hex(":"),
        "".join(f"\\x{one:02x}" for one in data),
    ):
        assert find_encoded(text.encode(), NEEDLES) == "hex"


@given(st.text(min_size=8, max_size=40), st.sampled_from(["plain", "percent", "every", "json", "base64", "hex"]))
def test_any_secret_is_recognised_in_every_form(secret: str, form: str) -> None:
    data = secret.encode("utf-8", "surrogatepass")
    written = {
        "plain": data,
        "percent": quote(data, safe="").encode(),
        "every": b"".join(b"%%%02x" % one for one in data),
        "json": json.dumps(secret).encode(),
        "base64": base64.b64encode(data + b"\n"),
        "hex": binascii.hexlify(data),
    }[form]
    assert find_encoded(b"key=" + written + b"&x", needles_of(secret)) is not None


@given(st.binary(max_size=400))
def test_what_only_looks_random_is_not_taken_for_it(data: bytes) -> None:
    for text in (data, base64.b64encode(data), data.hex().encode()):
        assert find_encoded(text, NEEDLES) is None


@pytest.mark.parametrize(
    "text",
    [
        CANARY[:-1],
        CANARY[1:],
        CANARY[:12] + "x" + CANARY[12:],
        base64.b64encode(CANARY[:-2].encode()).decode(),
        CANARY[:-1].encode().hex(),
        "sha256:" + "0ddba11" * 9,
        "",
    ],
)
def test_a_look_alike_is_not_taken_for_it(text: str) -> None:
    assert find_encoded(text.encode(), NEEDLES) is None


def test_what_is_too_short_to_mean_anything_is_never_found() -> None:
    assert find_encoded(b"abc abc abc", needles_of("abc")) is None
    assert find_encoded(b"", needles_of("")) is None
