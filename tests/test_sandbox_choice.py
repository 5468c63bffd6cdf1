from __future__ import annotations

import pytest

from overeager.errors import OvereagerError
from overeager.run.sandbox_choice import read_sandbox
from overeager.sandbox.docker_image import DEFAULT


@pytest.mark.parametrize(
    ("text", "image", "sandbox"),
    [
        ("bubblewrap", None, "bubblewrap"),
        ("docker", None, f"docker:{DEFAULT}"),
        ("docker:a/b:1", None, "docker:a/b:1"),
        ("docker", "a:2", "docker:a:2"),
    ],
)
def test_the_sandbox_option_is_read(text: str, image: str | None, sandbox: str) -> None:
    assert read_sandbox(text, image) == sandbox


@pytest.mark.parametrize(
    ("text", "image"), [("dockr", None), ("bubblewrap", "a:1"), ("docker:a", "b"), ("bubblewrap:a", None)]
)
def test_a_sandbox_that_is_none_is_refused(text: str, image: str | None) -> None:
    with pytest.raises(OvereagerError, match="RUN014"):
        read_sandbox(text, image)
