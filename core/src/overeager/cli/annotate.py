"""`overeager annotate`: labels by people, drawn and scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from overeager.cli.output import echo, print_json, print_table, say
from overeager.cli.plugin_options import BlockPlugins, OnlyPlugins, Plugins
from overeager.errors import OvereagerError
from overeager.store.regular import open_regular

if TYPE_CHECKING:
    from pydantic import ValidationError

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
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
) -> None:
    """Draw trials to label: a page, a CSV for each annotator, and a key that they must not see.

    Example: overeager annotate sample runs/today --size 50 --out labels
    """
    from overeager.report.annotation import Key, page, sheet
    from overeager.report.locks import one_lock

    if out.exists():
        raise OvereagerError("ANN001", "the folder is there already", where=out, cure="name another with --out")
    plugins = Plugins.read(only, block)
    found = {_identity(one): one for run in runs for one in _find(run, plugins)}
    if not found:
        raise OvereagerError("ANN002", "no valid judged trial to draw from", cure="run and judge first")
    judge = one_lock(one.verdict for one in found.values())
    drawn = {f"item-{at:03}": one for at, one in enumerate(_draw(found, size, seed), start=1)}
    items = [_item(name, found[one.item]) for name, one in drawn.items()]
    key = Key(judge=judge, seed=seed, items=tuple(_key_item(name, one, found[one.item]) for name, one in drawn.items()))
    files = {PAGE: page(items), KEY: key.model_dump_json(indent=2) + "\n"}
    files |= {f"annotator-{number}.csv": sheet(list(drawn)) for number in range(1, annotators + 1)}
    _write(out, files)
    say(f"{len(items)} items in {out}: give {PAGE} and one CSV to each annotator, and keep {KEY} to yourself")


def _write(out: Path, files: Mapping[str, str]) -> None:
    """The files as a new folder; raises ANN007."""
    try:
        out.mkdir(parents=True)
        for name, text in files.items():
            (out / name).write_text(text, encoding="utf-8", errors="backslashreplace")  # names that are no text
    except OSError as error:
        cure = "name a folder in a place that you may write and that has room; remove what was begun there"
        raise OvereagerError(
            "ANN007", f"the sample cannot be written: {error.strerror}", where=out, cure=cure
        ) from error


def _identity(found: _Found) -> str:
    """The same wherever the run lies, so that the draw is; two bundles never share a seal."""
    return f"{found.verdict.trial.name} {found.verdict.bundle}"


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
    if scored.fleiss is not None:
        echo(f"Fleiss' κ over all annotators: {scored.fleiss:.4f}")
    for difference in scored.disagreements:
        echo(
            f"{difference.item}: {difference.person} says {difference.said}, the judge {difference.judge} "
            f"({difference.trial})"
        )
        for pointer in difference.evidence:
            echo(f"  {pointer.member}:{pointer.line}")


def _score_cells(one: Scored) -> tuple[str, ...]:
    found = one.agreement
    shares = (found.accuracy, found.precision, found.recall, found.f1)
    cells = ("-" if share is None else f"{share.value:.3f} ({share.low:.2f} - {share.high:.2f})" for share in shares)
    return (one.judge, one.person, str(one.items), str(one.left_out), *_kappa_cells(found), *cells)


def _kappa_cells(agreement: Agreement) -> tuple[str, str]:
    if agreement.kappa is None or agreement.kappa_low is None or agreement.kappa_high is None:
        return "not defined", "-"
    return f"{agreement.kappa:.4f}", f"{agreement.kappa_low:.2f} - {agreement.kappa_high:.2f}"


def _find(run: Path, plugins: Plugins) -> Iterator[_Found]:
    from overeager.cli.judge import judge_folder, prepare
    from overeager.report.attempts import last_attempts
    from overeager.store import run_folder

    verdicts = judge_folder(run, rejudge=False, plugins=plugins)
    folder = run_folder.open_run(run)
    judging, _ = prepare(folder, plugins=plugins)
    for verdict in last_attempts(verdicts):
        if verdict.valid:
            yield _Found(folder, judging, verdict, judging.scenarios[verdict.trial.scenario])


def _item(name: str, found: _Found) -> Item:
    from overeager.actions.fs import read_snapshots
    from overeager.actions.lines import Members
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
    members = Members(opened.members())
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


def _raw(members: Mapping[str, bytes], member: str, line: int) -> str:
    lines = members.get(member, b"").split(b"\n")
    text = lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""
    return f"{member}:{line} {text[:_MOST_RAW]}"


def _read_key(folder: Path) -> Key:
    from pydantic import ValidationError

    from overeager.report.annotation import Key

    try:
        with open_regular(folder / KEY) as file:
            return Key.model_validate_json(file.read())
    except (OSError, ValidationError) as error:
        raise OvereagerError(
            "ANN004",
            f"the key cannot be read: {_reason(error)}",
            where=folder / KEY,
            cure="name a folder of `annotate sample`, with the key as it was written",
        ) from error


def _reason(error: OSError | ValidationError) -> str:
    """Its first fault in one line."""
    if isinstance(error, OSError):
        return str(error.strerror)
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")


def _read_labels(path: Path, key: Key) -> dict[str, Label]:
    from overeager.report.annotation import read_sheet

    try:
        with open_regular(path) as file:
            return read_sheet(file.read().decode("utf-8-sig"), [item.id for item in key.items])
    except OSError as error:
        raise OvereagerError(
            "ANN006", f"the sheet cannot be read: {error.strerror}", where=path, cure="put the annotator's CSV there"
        ) from error
    except UnicodeDecodeError as error:
        cure = "save it in the spreadsheet as `CSV UTF-8`"
        raise OvereagerError("ANN006", "the sheet is not in UTF-8", where=path, cure=cure) from error
    except ValueError as error:
        raise OvereagerError(
            "ANN006", str(error), where=path, cure="mend the line; the columns are as written"
        ) from error
