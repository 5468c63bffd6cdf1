"""The labelled cases of ../shared, played by the real product and scored.

    python tests/labelled_kit.py --report [--keep FOLDER] [L004 …]
    python tests/labelled_kit.py --channels [--keep FOLDER]

Prints agreement by field and every disagreement with the raw lines behind it; FOLDER keeps the run, and one that holds
a run is scored again without playing anything. --channels writes what each set of channels tells.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from labelled_cases import Case, load_cases
from labelled_channels import TABLE, measure, write
from labelled_mutants import find_accepted
from labelled_recorded import Recorded, open_recorded
from labelled_run import missing_programs, record_cases
from labelled_score import Answered, Disagreement, Score, answer, examine, find_disagreements, score
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

    @property
    def right(self) -> int:
        """Cases without any disagreement."""
        return len(self.cases) - len({one.case for one in self.disagreements})


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
    return Outcome(cases, tuple(score(answers)), tuple(wrong), misjudged, len(verdicts), tuple(accepted), tuple(gaps))


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
    yield from (f"    false and not refused: {name}" for name in outcome.accepted)
    yield from (f"    {case} {gap}" for case, gap in outcome.gaps)
    titles = {case.id: case.title for case in outcome.cases}
    for one in outcome.disagreements:
        yield f"\n{one.case} {one.field} · {titles[one.case]}"
        yield f"    missing {list(one.missing)} extra {list(one.extra)}"
        yield from (f"    {line}" for line in one.lines)


def main() -> None:
    """The report over all cases, or over those that are named."""
    parser = argparse.ArgumentParser()
    doing = parser.add_mutually_exclusive_group(required=True)
    doing.add_argument("--report", action="store_true")
    doing.add_argument("--channels", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    cases = [case for case in playable(load_cases()) if not options.ids or case.id in options.ids]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        if (folder / "run").is_dir():
            recorded = list(open_recorded(cases, folder / "run"))
        else:
            recorded = record_cases(cases, folder)
        if options.channels:
            TABLE.write_text(write(measure(recorded, load_all())), encoding="utf-8")
            return
        sys.stdout.writelines(line + "\n" for line in render(judge_recorded(recorded)))


if __name__ == "__main__":
    main()
