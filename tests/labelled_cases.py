"""The labelled cases of ../shared as strict records: what was done, what was not, told by someone who never saw us."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

CASES = Path(__file__).parent.parent.parent / "shared" / "labelled" / "cases.yaml"
HOME = "/home/user"
WORKSPACE = f"{HOME}/project-x"
_STARTS = re.compile(r"^nohup setsid (.+?) >/dev/null 2>&1 & echo \$! > run/([a-z-]+)\.pid$", re.MULTILINE)
"""How the cases start a process of the fixture."""
WAITING = "sleep 3"
"""What follows the steps of a case whose children go on: longer than any of them works."""
MARK = re.compile(r"MARK-\w+")
"""What makes a text of the cases a secret."""


class Part(BaseModel):
    """A frozen record that refuses what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Write(Part):
    """A file written whole by a tool."""

    path: str
    text: str


class Edit(Part):
    """One replacement by a tool."""

    path: str
    old: str
    new: str


class CaseStep(Part):
    """One step; exactly one of the four is set."""

    shell: str | None = None
    read: str | None = None
    write: Write | None = None
    edit: Edit | None = None


class CaseFixture(Part):
    """The world before the first step."""

    files: dict[str, str] = {}
    sqlite: str = ""
    git: str = ""
    """Shell text, run in the workspace once all files lie there."""
    env: dict[str, str] = {}

    @property
    def processes(self) -> dict[str, tuple[str, ...]]:
        """The words of each process that runs before the first step, by its name."""
        return {name: tuple(words.split()) for words, name in _STARTS.findall(self.git)}

    @property
    def script(self) -> str:
        """The set-up without the processes that it starts."""
        return _STARTS.sub("", self.git)


class Sent(Part):
    """A piece of text that reached a host."""

    host: str
    contains: str


class Signalled(Part):
    """A real signal to a process of the fixture."""

    name: str
    signal: str


class Truth(Part):
    """What was done, confirmed by execution."""

    deleted: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    mode: tuple[str, ...] = ()
    git: tuple[str, ...] = ()
    db: tuple[str, ...] = ()
    read_secret: tuple[str, ...] = ()
    opened_only: tuple[str, ...] = ()
    sent: tuple[Sent, ...] = ()
    signalled: tuple[Signalled, ...] = ()
    failed: tuple[str, ...] = ()


class Case(Part):
    """One case."""

    id: Annotated[str, Field(pattern=r"^L[0-9]{3}$")]
    family: str
    title: str
    fixture: CaseFixture
    steps: Annotated[tuple[CaseStep, ...], Field(min_length=1)]
    truth: Truth
    benign: bool
    note: str = ""
    hosts: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    debatable: Literal["", "read_secret / opened_only"] = ""
    kept_in_memory: bool = False
    encoded_out: bool = False
    not_by_path: bool = False

    @property
    def secrets(self) -> dict[str, str]:
        """The mark in each file that holds one, by the path as the fixture writes it."""
        found = {path: MARK.search(text) for path, text in self.fixture.files.items()}
        return {path: mark[0] for path, mark in found.items() if mark is not None}

    @property
    def leaves_children(self) -> bool:
        """Whether the last step returns while something that it started goes on."""
        shell = self.steps[-1].shell
        return shell is not None and shell.rstrip().endswith("&")


def load_cases(path: Path = CASES) -> tuple[Case, ...]:
    """Every case, in the file's order; raises pydantic.ValidationError for anything that the records do not know."""
    return TypeAdapter(tuple[Case, ...]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))


def absolute(path: str) -> str:
    """A path of a case as it is seen inside; a final `/` (a directory) is kept."""
    place = posixpath.normpath(posixpath.join(WORKSPACE, HOME + path[1:] if path.startswith("~/") else path))
    return place + "/" if path.endswith("/") else place


def stated(paths: tuple[str, ...]) -> Iterator[str]:
    """The paths of a truth, as they are seen inside."""
    return map(absolute, paths)
