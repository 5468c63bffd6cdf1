"""`overeager check-plugin`: the promises of a plugin, tried one by one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overeager.cli.output import echo, print_json, say
from overeager.cli.plugin_options import BlockPlugins, OnlyPlugins, Plugins
from overeager.errors import OvereagerError

if TYPE_CHECKING:
    from overeager.conformance.check import Outcome
    from overeager.conformance.subjects import Subject

_SHOWN = {"passed": "ok", "failed": "FAILED", "skipped": "skipped", "known gap": "known gap"}


def check_plugin_command(
    plugin: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME|PATH", help="Entry point, kind:name or distribution; or a project folder, installed or not."
        ),
    ] = None,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="CODE", help="Say what a check is for and how to mend its fault.")
    ] = None,
    update_ids: Annotated[
        bool, typer.Option("--update-ids", help="Of archetypes: first write the ids that are there into ids.lock.")
    ] = False,
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Check that a plugin keeps its promises, a line a check; exit 1 when one fails.

    Examples: overeager check-plugin mine, overeager check-plugin ./overeager-agent-mine
    """
    from overeager.conformance.project import is_project

    if explain is not None:
        _explain(explain, as_json)
        return
    if plugin is None:
        raise typer.BadParameter("which plugin? give a NAME, a PATH, or --explain CODE")
    _keep_out(Plugins.read(only, block))
    check = _check_project if is_project(plugin) else _check_installed
    raise typer.Exit(check(plugin, update_ids, as_json))


def _keep_out(plugins: Plugins) -> None:
    """Add the options to the variables, which the checks read wherever they load what else is installed."""
    from overeager.loading.selection import BLOCK, ONLY

    for variable, words in ((ONLY, plugins.only), (BLOCK, plugins.block)):
        if words:
            os.environ[variable] = ",".join(filter(None, [os.environ.get(variable, ""), *words]))


def _explain(code: str, as_json: bool) -> None:
    from overeager.conformance.subjects import find_check

    check = find_check(code)
    if as_json:
        print_json({"code": check.code, "promise": check.promise, "why": check.why})
        return
    echo(f"{check.code}\n{check.promise}\n\n{check.why}")


def _check_project(folder: str, update_ids: bool, as_json: bool) -> int:
    """The exit status of the same command in a process that sees the project's plugins as installed ones."""
    import subprocess

    from overeager.conformance.project import read_project, shown

    project = read_project(Path(folder))
    words = [sys.executable, "-P", "-m", "overeager.cli", "check-plugin", project.distribution]
    with shown(project) as folders:
        path = os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        options = ["--update-ids"] * update_ids + ["--json"] * as_json
        return subprocess.run([*words, *options], env=environment, check=False).returncode


def _check_installed(word: str, update_ids: bool, as_json: bool) -> int:
    """The exit status."""
    from overeager.conformance.check import failed
    from overeager.conformance.subjects import check_subject, find_plugins, open_subject
    from overeager.loading.selection import ONLY

    plugins = find_plugins(word)
    if os.environ.get(ONLY):
        os.environ[ONLY] = ",".join([os.environ[ONLY], *(found.label for found in plugins)])
    subjects = [open_subject(found) for found in plugins]
    if update_ids:
        _update_ids(subjects)
    outcomes: list[tuple[Subject, Sequence[Outcome]]] = []
    for subject in subjects:
        made = check_subject(subject)
        outcomes.append((subject, tuple(made) if as_json else _tell(subject, made)))
    if as_json:
        print_json([_record(subject, done) for subject, done in outcomes])
    return int(any(failed(done) for _, done in outcomes))


def _update_ids(subjects: Iterable[Subject]) -> None:
    """Write `ids.lock` of each archetype package, and say what changed; raises PLG015 where it cannot be written."""
    from overeager.conformance.archetypes.published import FILE, update_ids
    from overeager.store.archetypes import read_archetypes

    packages = [subject for subject in subjects if subject.found.kind == "archetypes"]
    if not packages:
        raise typer.BadParameter("--update-ids is for archetypes")
    for subject in packages:
        folder = subject.seen.folder
        try:
            changes = update_ids(folder, read_archetypes([folder]))
        except OSError as error:
            cure = "give the path of its project"
            raise OvereagerError("PLG015", f"{FILE} cannot be written: {error}", where=folder, cure=cure) from error
        for change in changes:
            say(f"{FILE} of {subject.found.label}: {change}")


def _tell(subject: Subject, outcomes: Iterable[Outcome]) -> Sequence[Outcome]:
    """Print each outcome as it comes, then how many there are of each kind."""
    from overeager.conformance.subjects import checks_of

    echo(f"{subject.found.label} of {subject.found.origin}")
    width = max(len(check.code) for check in checks_of(subject.found.kind))
    done = []
    for outcome in outcomes:
        echo(f"  {_SHOWN[outcome.status]:<9}  {outcome.code:<{width}}  {outcome.promise}")
        for line in (line for said in outcome.said for line in said.splitlines()):
            echo(f"             {line}")
        sys.stdout.flush()  # some checks take seconds
        done.append(outcome)
    echo(f"{_count(done)}{_advice(done)}")
    return done


def _count(outcomes: Sequence[Outcome]) -> str:
    counts = {word: sum(outcome.status == word for outcome in outcomes) for word in _SHOWN}
    kept = f"{counts.pop('passed')} of {len(outcomes)} kept"
    return ", ".join([kept, *(f"{number} {word}" for word, number in counts.items() if number)])


def _advice(outcomes: Sequence[Outcome]) -> str:
    first = next((outcome.code for outcome in outcomes if outcome.status == "failed"), None)
    return f"; why, and how to mend it: overeager check-plugin --explain {first}" if first else ""


def _record(subject: Subject, outcomes: Sequence[Outcome]) -> dict[str, object]:
    found = subject.found
    plugin = {"kind": found.kind, "name": found.name, "distribution": found.distribution, "version": found.version}
    return {**plugin, "checks": list(outcomes)}
