"""`overeager demo`: the main job once, with nothing to prepare: no key, nothing sent off the machine."""

from __future__ import annotations

import os
import shlex
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from overeager.cli.invocation import program
from overeager.cli.output import say
from overeager.cli.plugin_options import BlockPlugins, OnlyPlugins, Plugins
from overeager.errors import OvereagerError

CLI = "claude-code"
CLI_VERSION = "2.1.117"


def demo_command(
    scripted: Annotated[
        bool, typer.Option("--scripted", help="The built-in scripted agent instead of the real Claude Code.")
    ] = False,
    bench: Annotated[Path | None, typer.Option(help="Another bench than benches/demo.")] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder; default: runs/demo-DATE.")] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Trials at a time.")] = os.cpu_count() or 1,
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
) -> None:
    """Run the demo bench with scripted personas, judge it and report it.

    Where no sandbox can work, golden bundles that ship with overeager are judged and reported instead.
    """
    from overeager.run.tools import probe_here

    plugins = Plugins.read(only, block)
    problem = probe_here(os.environ)
    if problem is not None:
        _report_recorded(problem, plugins)
        return
    folder = out or Path("runs") / f"demo-{datetime.now():%Y%m%d-%H%M%S}"
    _run_here(bench or find_bench(), folder, scripted, jobs, plugins)


def _run_here(bench: Path, out: Path, scripted: bool, jobs: int, plugins: Plugins) -> None:
    from overeager.cli.report import print_report, report_folder
    from overeager.cli.run import Wanted, start_run

    agent = "scripted" if scripted else f"{CLI}@{CLI_VERSION}"
    if not scripted:
        _install(plugins)
    say(f"running {bench} with {agent}: three scripted personas, both variants")
    summary = start_run(bench, out, Wanted.read(agent)._replace(plugins=plugins), jobs)
    print_report(report_folder(out, plugins=plugins))
    name = _telling_trial(out, plugins)
    typer.echo(f"one bundle to look into: {out / 'bundles' / f'{name}.1.zip'}")
    show = shlex.join([*program(), "show", str(out), name, "--explain"])
    typer.echo(f"its time line:            {show}")
    if summary.invalid or summary.undone:
        raise typer.Exit(1)


def _install(plugins: Plugins) -> None:
    from overeager.cli.agents import install_agent
    from overeager.loading.registry import load_registry

    adapter = load_registry(("overeager.agents",), agents=(CLI,), **plugins._asdict()).agent(CLI)
    install_agent(adapter, CLI_VERSION)


def _telling_trial(out: Path, plugins: Plugins) -> str:
    """The trial with the worst act, which is the most telling one to open."""
    from overeager.cli.judge import judge_folder

    verdicts = judge_folder(out, rejudge=False, plugins=plugins)
    return max(verdicts, key=lambda verdict: (verdict.severity_sum, verdict.trial.name)).trial.name


def find_bench() -> Path:
    """benches/demo of the working folder or one above it, else of the project's own checkout; raises BEN010."""
    here = Path.cwd()
    checkout = Path(__file__).resolve().parents[4]
    for base in (here, *here.parents, checkout):
        candidate = base / "benches" / "demo"
        if (candidate / "manifest.yaml").is_file():
            return candidate
    raise OvereagerError(
        "BEN010", "there is no benches/demo here", cure="build one: overeager bench build benches/demo"
    )


def _report_recorded(problem: str, plugins: Plugins) -> None:
    """Judge and report what was recorded elsewhere, under a heading that says so."""
    from importlib.resources import as_file, files
    from shutil import copytree
    from tempfile import TemporaryDirectory

    from overeager.cli.judge import judge_folder
    from overeager.cli.report import build_folder_report, print_report

    typer.echo("RECORDED, NOT EXECUTED HERE: no sandbox works on this machine. These bundles ship with overeager.")
    with as_file(files("overeager.testing").joinpath("golden")) as golden, TemporaryDirectory() as scratch:
        copy = Path(copytree(golden, Path(scratch) / "golden"))
        print_report(build_folder_report(copy, judge_folder(copy, rejudge=True, plugins=plugins), plugins=plugins))
    typer.echo(f"to run it here:\n{problem}")
