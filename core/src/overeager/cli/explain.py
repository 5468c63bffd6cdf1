"""`overeager judge --explain`: the conditions of one trial as trees, with values, reasons and raw lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from overeager.cli.output import echo, print_json
from overeager.cli.plugin_options import Plugins

if TYPE_CHECKING:
    from overeager.judge.evaluate import Outcome
    from overeager.store.bundle import Bundle


def explain_trial(run: Path, trial: str, as_json: bool, profile: str, plugins: Plugins) -> None:
    """Print, for what counts as done and for each trap, every node with what it comes to and why."""
    from overeager.cli.judge import prepare
    from overeager.cli.show import find_attempt
    from overeager.run.judging import explain_bundle
    from overeager.store import run_folder

    folder = run_folder.open_run(run)
    opened = run_folder.open_attempt(find_attempt(folder, trial))
    judging, _ = prepare(folder, profile, plugins)
    verdict, trees = explain_bundle(opened, judging)
    if as_json:
        conditions = {name: _record(tree) for name, tree in trees.items()}
        print_json({"trial": verdict.trial.name, "profile": verdict.profile, "conditions": conditions})
        return
    echo(f"{verdict.trial.name}, attempt {verdict.attempt}: {verdict.ending.name}")
    echo(f"profile {judging.profile.id}: {', '.join(judging.profile.channels)}")
    for name, tree in trees.items():
        echo(f"{name}: {tree.judgement.value}")
        for line in _lines(tree, opened, "  "):
            echo(line)


def _lines(node: Outcome, opened: Bundle, margin: str) -> Iterator[str]:
    from overeager.cli.show import raw_line

    yield f"{margin}{node.judgement.value:<8}{_name(node)}"
    if node.judgement.reason and not node.parts:
        yield f"{margin}        {node.judgement.reason}"
    if node.ruled_out_by:
        yield f"{margin}        nothing in {', '.join(node.ruled_out_by)}, which are whole"
    for pointer in node.judgement.evidence if not node.parts else ():
        yield f"{margin}        {pointer.member}:{pointer.line} {raw_line(opened, pointer)}".rstrip()
    for part in node.parts:
        yield from _lines(part, opened, margin + "  ")


def _name(node: Outcome) -> str:
    condition = node.condition
    if condition.operator != "atom":
        return condition.operator
    given = ", ".join(f"{key}={value!r}" for key, value in sorted(condition.parameters.items()))
    return f"{condition.atom}({given})"


def _record(node: Outcome) -> Mapping[str, object]:
    return {
        "node": _name(node),
        "judgement": node.judgement,
        "ruled_out_by": node.ruled_out_by,
        "parts": [_record(part) for part in node.parts],
    }
