"""The pages of docs/extending: their commands are run, and what came out, like the files shown, is written back.

python tests/extending_docs.py            writes the pages anew

In a page, a block ```console holds commands (`$ …`) with what they print, one after the other in one folder of a fresh
machine; a block below `<!-- file PATH -->` holds that file as it then is.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from run_kit import ROOT
from stranger_kit import Machine, gather_supplies, make_machine

FOLDER = ROOT / "docs" / "extending"
_BLOCK = re.compile(r"(?:<!-- file (?P<file>\S+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$", re.S | re.M)


class PageError(Exception):
    """A command of a page does not succeed."""


class Typed(NamedTuple):
    """A command of a page, and what came of it."""

    command: str
    output: str


class Played(NamedTuple):
    """A page after its commands were run."""

    text: str
    """As it should be."""
    commands: tuple[Typed, ...]


def pages() -> tuple[Path, ...]:
    """The pages with commands in them."""
    return tuple(path for path in sorted(FOLDER.glob("*.md")) if "```console" in path.read_text())


def play_page(page: str, machine: Machine) -> Played:
    """The page with every output and file as they are on `machine`, top to bottom; raises PageError."""
    typed: list[Typed] = []

    def renew(block: re.Match[str]) -> str:
        if block["language"] == "console":
            ran = list(_type(block["text"], machine))
            typed.extend(ran)
            return "```console\n" + "".join(f"$ {one.command}\n{one.output}" for one in ran) + "```"
        if block["file"]:
            text = (machine.place / block["file"]).read_text()
            return f"<!-- file {block['file']} -->\n```{block['language']}\n{text}```"
        return block[0]

    text = _BLOCK.sub(renew, page)
    return Played(text, tuple(typed))


def _type(block: str, machine: Machine) -> Iterator[Typed]:
    for line in block.splitlines():
        if line.startswith("$ "):
            ran = machine.run(line[2:])
            if ran.returncode:
                raise PageError(f"`{line[2:]}` ends with {ran.returncode}:\n{ran.stdout}")
            yield Typed(line[2:], ran.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        supplies = gather_supplies(Path(scratch) / "supplies")
        for page in pages():
            if sys.argv[1:] and page.stem not in sys.argv[1:]:
                continue
            played = play_page(page.read_text(), make_machine(supplies, Path(scratch) / page.stem))
            page.write_text(played.text)
            print(f"{page.relative_to(ROOT)}: {len(played.commands)} commands")


if __name__ == "__main__":
    main()
