"""How much each set of channels tells of the labelled cases, by the judge's own answers.

    python tests/labelled_kit.py --channels [--keep FOLDER]

A bundle is judged with the members of some channels alone. A missed label is one that is not TRUE; it may be UNKNOWN,
and must never be FALSE.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from labelled_answers import is_listed
from labelled_cases import Case, absolute, stated
from labelled_recorded import Recorded
from labelled_verdicts import literal
from overeager.actions.assemble import gather
from overeager.contract.registry import Registry
from overeager.judge.evaluate import Ground, evaluate
from overeager.model.condition import Condition
from overeager.model.vocabulary import Channel

TABLE = Path(__file__).parent / "expected" / "labelled_channels.csv"

MEMBERS: Mapping[Channel, tuple[str, ...]] = {
    "shim": ("shim.jsonl", "stand_ins.jsonl"),
    "agent": ("agent/",),
    "fs": ("fs/",),
    "net": ("net/", "gateway/"),
    "kernel": ("kernel.jsonl",),
}
SETS: tuple[tuple[Channel, ...], ...] = (
    ("shim",),
    ("shim", "agent"),
    ("shim", "agent", "fs"),
    ("shim", "agent", "fs", "net"),
    ("shim", "agent", "fs", "net", "kernel"),
)
_NET: Mapping[str, tuple[str, ...]] = {
    "deleted": ("fs.deleted",),
    "changed": ("fs.created", "fs.modified"),
    "secret read": ("file.read_sensitive",),
}
_ACTS: Mapping[str, tuple[str, ...]] = {
    "deleted": ("file.deleted_act",),
    "changed": ("file.written_act",),
    "secret read": ("file.read_sensitive",),
}
"""What is asked where there are no snapshots: whether it was done, not what was left."""


class Row(NamedTuple):
    """One set of channels, one family of labels."""

    channels: str
    family: str
    stated: int
    right: int
    """TRUE where the label says so."""
    wrong: int
    """TRUE where it does not."""
    unknown: int
    """Missed, and UNKNOWN."""
    denied: int
    """Missed, and FALSE."""

    @property
    def precision(self) -> float:
        """1 where nothing was said."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Of the labels that are stated."""
        return self.right / self.stated if self.stated else 1.0


def measure(recorded: Sequence[Recorded], registry: Registry) -> list[Row]:
    """All rows, in the order of SETS."""
    counts: dict[tuple[str, str], list[int]] = {}
    for one in recorded:
        for channels in SETS:
            ground = ground_of(one, channels, registry)
            for family, path, true in _facts(one.case):
                row = counts.setdefault((" + ".join(channels), family), [0, 0, 0, 0, 0])
                value = _value(family, path, "fs" in channels, ground)
                row[0] += true
                row[1] += true and value == "true"
                row[2] += not true and value == "true"
                row[3] += true and value == "unknown"
                row[4] += true and value == "false"
    return [Row(*key, *row) for key, row in counts.items()]


def write(rows: Sequence[Row]) -> str:
    """The table as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow((*Row._fields, "precision", "recall"))
    writer.writerows((*row, f"{row.precision:.3f}", f"{row.recall:.3f}") for row in rows)
    return buffer.getvalue()


def ground_of(recorded: Recorded, channels: Sequence[Channel], registry: Registry) -> Ground:
    """What the judge has when the members of these channels alone are there."""
    manifest = recorded.bundle.manifest
    kept = tuple(prefix for channel in channels for prefix in MEMBERS[channel])
    members = {name: data for name, data in recorded.bundle.members().items() if name.startswith(kept)}
    rules = {command: rule for command, (rule, _) in registry.shims.items()}
    evidence = gather(members, manifest, registry.agent(manifest.cell.agent), rules)
    return Ground(evidence, evidence.health, {name: atom for name, (atom, _) in registry.atoms.items()})


def _value(family: str, path: str, snapshots: bool, ground: Ground) -> str:
    atoms = (_NET if snapshots else _ACTS)[family]
    condition = Condition.model_validate({"any_of": [{atom: {"path": literal(path)}} for atom in atoms]})
    return evaluate(condition, ground).judgement.value


def _facts(case: Case) -> Iterator[tuple[str, str, bool]]:
    """(family, path, whether the label says so) of every path that the case names; debatable secrets are left out."""
    truth = case.truth
    starts, ends = {absolute(a) for a, _ in truth.moved}, {absolute(b) for _, b in truth.moved}
    modified = set(stated(truth.modified))
    facts = {
        "deleted": set(stated(truth.deleted)) | (starts - ends),
        "changed": set(stated(truth.created)) | modified | ends,
    }
    known = {absolute(path) for path in case.fixture.files} | set().union(*facts.values())
    for family, paths in facts.items():
        yield from ((family, path.rstrip("/"), path in paths) for path in sorted(known) if is_listed(path))
    if not case.debatable:
        read = set(stated(truth.read_secret))
        yield from (("secret read", path, path in read) for path in sorted(map(absolute, case.secrets)))
