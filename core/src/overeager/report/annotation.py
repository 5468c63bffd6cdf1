"""Human labels: what an annotator is shown, blind to the verdict, and the key that stays apart."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from overeager.contract.evidence import Act
from overeager.model.action import Pointer
from overeager.model.record import Record
from overeager.model.scenario import Scenario
from overeager.model.verdict import Verdict
from overeager.model.vocabulary import Value
from overeager.report.visible import make_visible

Label = Literal["yes", "no", "unsure"]
COLUMNS = ("item", "overeager", "acts", "comment")


class ActLine(NamedTuple):
    """One act as an annotator sees it."""

    number: int
    what: str
    state: str
    channels: str
    raw: tuple[str, ...]
    """The raw lines that show it."""


class Item(NamedTuple):
    """One trial as an annotator sees it: the request, what it allows, what happened."""

    id: str
    prompt: str
    allowed: Mapping[str, Sequence[str]]
    """The parts of A that are not empty."""
    sensitive: Sequence[str]
    tree: Sequence[str]
    """What lay there before."""
    acts: Sequence[ActLine]
    said: Sequence[str]


class KeyItem(Record):
    """What an item was; never shown to an annotator."""

    id: str
    run: str
    trial: str
    attempt: int
    bundle: str
    stratum: str
    probability: Annotated[float, Field(gt=0, le=1)]
    """With which it was drawn."""
    overeager: Value
    evidence: tuple[Pointer, ...]


class Key(Record):
    """The key of a sample."""

    schema_version: Literal[1] = 1
    judge: str
    seed: int
    items: tuple[KeyItem, ...]


def stratum_of(verdict: Verdict, scenario: Scenario) -> str:
    """What a sample is spread over: archetype, variant, and what the judge said."""
    return f"{scenario.archetype}/{verdict.trial.variant}/{verdict.overeager.value}"


def act_line(act: Act, raw: Sequence[str]) -> ActLine:
    """An act in words; neither label nor verdict of ours is in them."""
    targets = ", ".join(f"{target.role} {target.value}".strip() for target in act.targets)
    stopped = f"{act.state} ({act.blocked_by})" if act.blocked_by else act.state
    return ActLine(act.number, f"{act.kind} {targets}".strip(), stopped, ", ".join(act.channels), tuple(raw))


def allowed_by(scenario: Scenario) -> dict[str, Sequence[str]]:
    """A in words."""
    parts = scenario.authorization
    words: dict[str, Sequence[str]] = {
        "write": parts.write,
        "create": parts.create,
        "delete": parts.delete,
        "read although sensitive": parts.read_sensitive,
        "hosts": parts.hosts,
        "packages": parts.packages,
        "refs": parts.refs,
        "commands": parts.commands,
        "follows from an allowed command": [f"{one.operation} {one.path} by {one.by}" for one in parts.derived],
    }
    return {name: globs for name, globs in words.items() if globs}


def page(items: Sequence[Item]) -> str:
    """One self-contained HTML page; nothing is loaded from elsewhere."""
    from jinja2 import Environment

    template = files("overeager.report").joinpath("templates/annotation.html.j2").read_text()
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_show)
    return environment.from_string(template).render(items=items)


def _show(value: object) -> object:
    """An output of the template; what is escaped already stays so."""
    return type(value)(make_visible(value)) if isinstance(value, str) else value


def sheet(items: Sequence[str]) -> str:
    """An empty CSV for one annotator."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((item, "", "", "") for item in items)
    return buffer.getvalue()


def read_sheet(text: str, known: Sequence[str]) -> dict[str, Label]:
    """What an annotator wrote, in commas, semicolons or tabs; empty cells are left out. Raises ValueError, with the
    line, for anything else."""
    try:
        return _read_rows(text, known)
    except csv.Error as error:
        raise ValueError(f"it is no CSV: {error}") from error


def _read_rows(text: str, known: Sequence[str]) -> dict[str, Label]:
    labels: dict[str, Label] = {}
    reader = csv.DictReader(io.StringIO(text), delimiter=_delimiter(text))
    if missing := [name for name in COLUMNS[:2] if name not in (reader.fieldnames or ())]:
        found = ", ".join(reader.fieldnames or ()) or "nothing"
        raise ValueError(f"line 1: there is no column {' and no column '.join(missing)}; it has {found}")
    for row in reader:
        item, word = (row.get("item") or "").strip(), (row.get("overeager") or "").strip().lower()
        if item not in known:
            raise ValueError(f"line {reader.line_num}: '{item}' is no item of this sample")
        if item in labels:
            raise ValueError(f"line {reader.line_num}: '{item}' stands twice")
        if word:
            labels[item] = _label(word, reader.line_num)
    return labels


def _delimiter(text: str) -> str:
    """What a spreadsheet put between the cells: which mark depends on its country."""
    heading = text.partition("\n")[0]
    return max(",;\t", key=heading.count)


def _label(word: str, line: int) -> Label:
    match word:
        case "yes" | "no" | "unsure":
            return word
    raise ValueError(f"line {line}: '{word}' is none of yes, no, unsure")
