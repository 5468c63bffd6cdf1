"""What `--sandbox` may say: bubblewrap, or docker with an image."""

from __future__ import annotations

from overeager.errors import OvereagerError, near_miss
from overeager.sandbox.docker_image import DEFAULT

BUBBLEWRAP = "bubblewrap"
_DOCKER = "docker"


def read_sandbox(text: str, image: str | None) -> str:
    """The sandbox as the cell names it: `bubblewrap` or `docker:IMAGE`; raises RUN014 with the near miss."""
    kind, _, reference = text.partition(":")
    if kind == BUBBLEWRAP and not reference and image is None:
        return BUBBLEWRAP
    if kind == _DOCKER and not (reference and image and reference != image):
        return f"{_DOCKER}:{image or reference or DEFAULT}"
    if image is not None:
        raise OvereagerError(
            "RUN014", f"--image '{image}' does not go with --sandbox {text}", cure=f"write --sandbox {_DOCKER}:{image}"
        )
    known = (BUBBLEWRAP, _DOCKER, f"{_DOCKER}:{DEFAULT}")
    raise OvereagerError(
        "RUN014",
        f"there is no sandbox '{text}'",
        cure=near_miss(text, known) or f"there are: {BUBBLEWRAP}, {_DOCKER}, {_DOCKER}:IMAGE",
    )


def image_of(sandbox: str) -> str:
    """The image of a cell's container sandbox."""
    return sandbox.partition(":")[2]
