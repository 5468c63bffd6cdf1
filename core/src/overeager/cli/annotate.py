"""`overeager annotate`: labels by people, drawn and scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from overeager.cli.output import echo, print_json, print_table, say
from overeager.errors import OvereagerError

if TYPE_CHECKING:
    from overeager.model.scenario import Scenario
    from overeager.model.verdict import Verdict
    from overeager.report.annotation import Item, Key, KeyItem, Label
    from overeager.report.scoring import Scored
    from overeager.run.judging import Judging
    from overeager.stats.agreement import Agreement
    from overeager.stats.sampling import Drawn
    from overeager.store.run_folder import RunFolder

PAGE, KEY = "items.html", "key.json"
_MOST_RAW = 400
"""Characters of one raw line on the page."""


class _Found(NamedTuple):
    """A judged, valid trial that may be drawn."""

    folder: RunFolder
    judging: Judging
    verdict: Verdict
    scenario: Scenario


def build_app() -> typer.Typer:
    """`annotate sample` and `annotate score`."""
    app = typer.Typer(no_args_is_help=True)
    app.command("sample")(sample_command)
    app.command("score")(score_command)
    return app


def sample_command(
    runs: Annotated[list[Path], typer.Argument(help="Judged run folders.")],
    out: Annotated[Path, typer.Option(help="Folder to write to; it must not exist.")],
    size: Annotated[int, typer.Option(min=1, help="Items.")] = 50,
    annotators: Annotated[int, typer.Option(min=1, help="CSV files, one each.")] = 2,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
) -> None:
    """Draw trials to label: a page, a CSV for each annotator, and a key that they must not see.

    Example: overeager annotate sample runs/today --size 50 --out labels
    """
    from overeager.report.annotation import Key, page, sheet

    if out.exists():
        raise OvereagerError("ANN001", "the folder is there already", where=out, cure="name another with --out")
    found = {f"{run.resolve()}\0{one.verdict.trial.name}": one for run in runs for one in _find(run)}
    judge = _one_lock(found.values())
    drawn = {f"item-{at:03}": one for at, one in enumerate(_draw(found, size, seed), start=1)}
    items = [_item(name, found[one.item]) for name, one in drawn.items()]
    key = Key(judge=judge, seed=seed, items=tuple(_key_item(name, one, found[one.item]) for name, one in drawn.items()))
    out.mkdir(parents=True)
    (out / PAGE).write_text(page(items))
    (out / KEY).write_text(key.model_dump_json(indent=2) + "\n")
    for number in range(1, annotators + 1):
        (out / f"annotator-{number}.csv").write_text(sheet(list(drawn)))
    say(f"{len(items)} items in {out}: give {PAGE} and one CSV to each annotator, and keep {KEY} to yourself")


def _one_lock(found: Iterable[_Found]) -> str:
    locks = {one.verdict.judge for one in found}
    if not locks:
        raise OvereagerError("ANN002", "no valid judged trial to draw from", cure="run and judge first")
    if len(locks) > 1:
        raise OvereagerError(
            "RPT002", f"the verdicts come from {len(locks)} judge locks", cure="judge all runs under one lock"
        )
    return locks.pop()


def _draw(found: Mapping[str, _Found], size: int, seed: int) -> list[Drawn]:
    from overeager.report.annotation import stratum_of
    from overeager.stats.sampling import draw

    strata: dict[str, list[str]] = {}
    for name, one in found.items():
        strata.setdefault(stratum_of(one.verdict, one.scenario), []).append(name)
    try:
        return draw(strata, min(size, len(found)), seed)
    except ValueError as error:
        raise OvereagerError("ANN003", str(error), cure=f"--size {len(strata)} or more") from error


def _key_item(name: str, drawn: Drawn, found: _Found) -> KeyItem:
    from overeager.report.annotation import KeyItem

    verdict = found.verdict
    return KeyItem(
        id=name,
        run=found.folder.root.name,
        trial=verdict.trial.name,
        attempt=verdict.attempt,
        bundle=verdict.bundle,
        stratum=drawn.stratum,
        probability=drawn.probability,
        overeager=verdict.overeager.value,
        evidence=verdict.overeager.evidence,
    )


def score_command(
    folder: Annotated[Path, typer.Argument(help="What `annotate sample` wrote, with the CSVs filled in.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Score labels: annotators against each other, the judge against them. Example: overeager annotate score labels"""
    from overeager.report.scoring import score

    key = _read_key(folder)
    sheets = {path.stem: _read_labels(path, key) for path in sorted(folder.glob("*.csv"))}
    sheets = {name: labels for name, labels in sheets.items() if labels}
    if not sheets:
        raise OvereagerError("ANN005", "no CSV holds a label", where=folder, cure="fill in the column `overeager`")
    scored = score(key, sheets)
    if as_json:
        print_json(scored)
        return
    headings = ("who", "against", "items", "left out", "κ", "95 %", "agreement", "precision", "recall", "F1")
    rows = map(_score_cells, scored.rows)
    print_table(headings, rows, "Rows of the judge are weighted by inclusion probability")
    for difference in scored.disagreements:
        echo(
            f"{difference.item}: {difference.person} says {difference.said}, the judge {difference.judge} "
            f"({difference.trial})"
        )
        for pointer in difference.evidence:
            echo(f"  {pointer.member}:{pointer.line}")


def _score_cells(one: Scored) -> tuple[str, ...]:
    found = one.agreement
    shares = (found.accuracy, found.precision, found.recall)
    cells = ("-" if share is None else f"{share.value:.3f} ({share.low:.2f} - {share.high:.2f})" for share in shares)
    f1 = "-" if found.f1 is None else f"{found.f1:.3f}"
    return (one.judge, one.person, str(one.items), str(one.left_out), *_kappa_cells(found), *cells, f1)


def _kappa_cells(agreement: Agreement) -> tuple[str, str]:
    if agreement.kappa is None or agreement.kappa_low is None or agreement.kappa_high is None:
        return "not defined", "-"
    return f"{agreement.kappa:.4f}", f"{agreement.kappa_low:.2f} - {agreement.kappa_high:.2f}"


def _find(run: Path) -> Iterator[_Found]:
    from overeager.cli.judge import judge_folder, prepare
    from overeager.report.attempts import last_attempts
    from overeager.store import run_folder

    verdicts = judge_folder(run, rejudge=False)
    folder = run_folder.open_run(run)
    judging, _ = prepare(folder)
    for verdict in last_attempts(verdicts):
        if verdict.valid:
            yield _Found(folder, judging, verdict, judging.scenarios[verdict.trial.scenario])


def _item(name: str, found: _Found) -> Item:
    from overeager.actions.fs import read_snapshots
    from overeager.report.annotation import Item, act_line, allowed_by
    from overeager.run.judging import examine_bundle
    from overeager.run.prompt import render_prompt
    from overeager.store import run_folder

    sealed = next(
        one
        for one in run_folder.sealed_attempts(found.folder)
        if (one.trial, one.attempt) == (found.verdict.trial.name, found.verdict.attempt)
    )
    opened = run_folder.open_attempt(sealed)
    evidence, _ = examine_bundle(opened, found.judging)
    members = opened.members()
    acts = [act for act in evidence.all_acts if not act.housekeeping]
    return Item(
        name,
        render_prompt(found.scenario.prompt, found.verdict.trial.variant),
        allowed_by(found.scenario),
        sorted(opened.manifest.canaries),
        sorted(read_snapshots(members).before),
        [
            act_line(act, [_raw(members, pointer.member, pointer.line) for pointer in act.pointers])
            for act in acts
            if act.kind not in ("say", "ask")
        ],
        [target.value for act in acts if act.kind in ("say", "ask") for target in act.targets],
    )


def _raw(members: dict[str, bytes], member: str, line: int) -> str:
    lines = members.get(member, b"").split(b"\n")
    text = lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""
    return f"{member}:{line} {text[:_MOST_RAW]}"


def _read_key(folder: Path) -> Key:
    from pydantic import ValidationError

    from overeager.report.annotation import Key

    try:
        return Key.model_validate_json((folder / KEY).read_bytes())
    except (OSError, ValidationError) as error:
        raise OvereagerError(
            "ANN004", f"the key cannot be read: {error}", where=folder / KEY, cure="name a folder of `annotate sample`"
        ) from error


def _read_labels(path: Path, key: Key) -> dict[str, Label]:
    from overeager.report.annotation import read_sheet

    try:
        return read_sheet(path.read_text(encoding="utf-8-sig"), [item.id for item in key.items])
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise OvereagerError(
            "ANN006", str(error), where=path, cure="mend the line; the columns are as written"
        ) from error
