"""The labelled cases, those of ../shared where they are and our own, played by the real product and scored.

    python tests/labelled_kit.py --report [--keep FOLDER] [L004 …]
    python tests/labelled_kit.py --channels [--keep FOLDER]
    python tests/labelled_kit.py --report | --channels | --table --claude [VERSION] [--keep FOLDER] [-- L004 …]

Prints agreement by field and every disagreement with the raw lines behind it; FOLDER keeps the run: what it holds is
scored again without being played, and a run that was broken off goes on. --channels writes what each set of channels
tells. With --claude it is the real Claude Code that plays (`labelled_claude.py`), and --table writes what came of each
case; causes that stand there are kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

import labelled_claude
from labelled_cases import Case
from labelled_channels import TABLE
from labelled_mutants import find_accepted
from labelled_recorded import Recorded, holds_all, open_recorded
from labelled_run import missing_programs, record_cases
from labelled_score import Answered, Disagreement, Score, answer, examine, find_disagreements, score
from labelled_sets import every_case, write_channels
from labelled_statements import Answer, answer_statements
from labelled_verdicts import Verdict, ask
from overeager.contract.registry import Registry
from overeager.loading.registry import load_registry

KNOWN = Path(__file__).parent / "expected" / "labelled_known.yaml"


class Known(NamedTuple):
    """A disagreement that is understood and stays for now."""

    case: str
    field: str
    reason: str


class Outcome(NamedTuple):
    """What came of all cases."""

    cases: tuple[Case, ...]
    scores: tuple[Score, ...]
    disagreements: tuple[Disagreement, ...]
    misjudged: tuple[tuple[str, Verdict], ...]
    """Cases with the questions to which the judge said another thing than the label."""
    asked: int
    """How many questions were put to the judge."""
    accepted: tuple[str, ...]
    """False labels that were not refused."""
    gaps: tuple[tuple[str, str], ...]
    """Cases with the channels that were not whole."""
    stated: int = 0
    """How many statements of our own cases were put to the judge."""
    unanswered: tuple[Answer, ...] = ()
    """Those that it answered with another value."""

    @property
    def right(self) -> int:
        """Cases without any disagreement."""
        return len(self.cases) - len({one.case for one in self.disagreements} | {one.case for one in self.unanswered})


def known_disagreements() -> tuple[Known, ...]:
    """The committed list."""
    return tuple(Known(**entry) for entry in yaml.safe_load(KNOWN.read_text(encoding="utf-8")) or ())


def playable(cases: Sequence[Case]) -> list[Case]:
    """The cases whose programs this machine has."""
    return [case for case in cases if not missing_programs(case)]


def load_all() -> Registry:
    """Everything that judging takes."""
    return load_registry(("overeager.agents", "overeager.shims", "overeager.atoms"))


def judge_recorded(recorded: Sequence[Recorded]) -> Outcome:
    """The recorded cases, held against their labels."""
    registry = load_all()
    answers: list[Answered] = []
    wrong: list[Disagreement] = []
    verdicts: list[tuple[str, Verdict]] = []
    gaps: list[tuple[str, str]] = []
    accepted: list[str] = []
    for one in recorded:
        told = examine(one, registry)
        found = answer(one.case, told)
        answers += found
        wrong += find_disagreements(one.case, told, found)
        accepted += find_accepted(one.case, told)
        verdicts += ((one.case.id, verdict) for verdict in ask(one.case, told, registry))
        states = told.evidence.health.items()
        gaps += ((one.case.id, f"{name}: {health.reason}") for name, health in states if health.state != "present")
    misjudged = tuple(pair for pair in verdicts if not pair[1].agrees)
    cases = tuple(one.case for one in recorded)
    told_of_own = answer_statements(recorded, registry)
    return Outcome(
        cases, tuple(score(answers)), tuple(wrong), misjudged, len(verdicts), tuple(accepted), tuple(gaps),
        len(told_of_own), tuple(one for one in told_of_own if not one.agrees),
    )  # fmt: skip


def render(outcome: Outcome) -> Iterator[str]:
    """The report, line by line."""
    yield f"{'field':14}{'stated':>8}{'claimed':>9}{'right':>7}{'precision':>11}{'recall':>8}{'cases right':>13}"
    for row in outcome.scores:
        yield (
            f"{row.field:14}{row.stated:8}{row.claimed:9}{row.right:7}"
            f"{row.precision:11.3f}{row.recall:8.3f}{row.agreeing:9}/{len(outcome.cases)}"
        )
    yield f"{outcome.right} of {len(outcome.cases)} cases fully right"
    yield f"{outcome.asked - len(outcome.misjudged)} of {outcome.asked} questions to the judge answered rightly"
    yield from (f"    {case} {verdict.question}: {verdict.judgement.value}" for case, verdict in outcome.misjudged)
    yield f"{outcome.stated - len(outcome.unanswered)} of {outcome.stated} statements of our own answered rightly"
    yield from (f"    {one}" for one in outcome.unanswered)
    yield from (f"    false and not refused: {name}" for name in outcome.accepted)
    yield from (f"    {case} {gap}" for case, gap in outcome.gaps)
    titles = {case.id: case.title for case in outcome.cases}
    for one in outcome.disagreements:
        yield f"\n{one.case} {one.field} · {titles[one.case]}"
        yield f"    missing {list(one.missing)} extra {list(one.extra)}"
        yield from (f"    {line}" for line in one.lines)


def list_differing(outcome: Outcome) -> list[tuple[str, str]]:
    """(case, what the product says otherwise than the labels) of all cases, short."""
    fields = [(one.case, one.field) for one in outcome.disagreements]
    values = [(case, f"{one.question.atom} {one.judgement.value}") for case, one in outcome.misjudged]
    return [*fields, *values, *((case, f"{gap.partition(':')[0]} not whole") for case, gap in outcome.gaps)]


def obtain(cases: Sequence[Case], folder: Path, agent: str) -> list[Recorded]:
    """The recorded cases below `folder`; what it does not hold is played."""
    run = folder / "run"
    whole = run.is_dir() and holds_all(cases, run)
    return list(open_recorded(cases, run)) if whole else record_cases(cases, folder, agent)


def do_as_told(options: argparse.Namespace, folder: Path) -> None:
    """Play or open the cases, and write or print what was asked for."""
    registry = load_all()
    cases = [case for case in playable(every_case(not options.claude)) if not options.ids or case.id in options.ids]
    recorded = obtain(cases, folder, labelled_claude.agent_of(options.claude) if options.claude else "scripted")
    settled = labelled_claude.settle(recorded, registry) if options.claude else []
    recorded = [one.recorded for one in settled] or recorded
    if options.channels:
        table = labelled_claude.channels_table(options.claude) if options.claude else TABLE
        write_channels(recorded, registry, table)
        return
    outcome = judge_recorded(recorded)
    sys.stdout.writelines(line + "\n" for line in render(outcome))
    if options.table:
        rows = labelled_claude.make_rows(options.claude, settled, list_differing(outcome))
        labelled_claude.TABLE.write_text(labelled_claude.write_table(rows), encoding="utf-8")


def main() -> None:
    """The report over all cases, or over those that are named."""
    parser = argparse.ArgumentParser()
    doing = parser.add_mutually_exclusive_group(required=True)
    doing.add_argument("--report", action="store_true")
    doing.add_argument("--channels", action="store_true")
    doing.add_argument("--table", action="store_true")
    versions = labelled_claude.VERSIONS
    parser.add_argument("--claude", nargs="?", choices=versions, const=versions[0])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    if options.table and (options.ids or not options.claude):
        parser.error("--table goes with --claude and takes all cases")
    with tempfile.TemporaryDirectory() as scratch:
        do_as_told(options, options.keep or Path(scratch))


if __name__ == "__main__":
    main()
