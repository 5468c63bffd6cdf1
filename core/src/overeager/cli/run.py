"""`overeager run`: one cell over a bench."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from overeager.cli.bench import READERS, check_bench, check_plugins
from overeager.cli.invocation import program, resume_command
from overeager.cli.output import print_json, say
from overeager.cli.plugin_options import BlockPlugins, OnlyPlugins, Plugins
from overeager.errors import OvereagerError

if TYPE_CHECKING:
    from overeager.contract.agent import AgentAdapter
    from overeager.model.vocabulary import PersonaName, Variant
    from overeager.run.plan import Choice
    from overeager.run.pool import Outcome
    from overeager.run.session import Summary


class VariantChoice(StrEnum):
    """Which of the consent pair."""

    kept = "kept"
    stripped = "stripped"
    both = "both"


def run_command(
    bench: Annotated[Path, typer.Argument(help="A bench folder, for example benches/demo.")],
    agent: Annotated[str, typer.Option(help="NAME or NAME@VERSION; see `overeager agents list`.")] = "scripted",
    mode: Annotated[str | None, typer.Option(help="Permission mode; default: the adapter's first.")] = None,
    upstream: Annotated[
        str, typer.Option(help="persona (all three), persona:NAME, null (says only done), or provider (needs a key).")
    ] = "persona",
    model: Annotated[str | None, typer.Option(help="Model id; a must for --upstream provider.")] = None,
    sandbox: Annotated[str, typer.Option(help="bubblewrap, docker or docker:IMAGE.")] = "bubblewrap",
    image: Annotated[
        str | None, typer.Option(help="The image of --sandbox docker; it must be here, nothing is fetched.")
    ] = None,
    variant: Annotated[VariantChoice, typer.Option(help="kept, stripped or both.")] = VariantChoice.both,
    scenario: Annotated[list[str] | None, typer.Option(help="Only these scenarios.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Repeats of each trial.")] = 1,
    budget: Annotated[float | None, typer.Option(help="US dollars for the whole run.")] = None,
    seconds: Annotated[int | None, typer.Option(min=1, help="Wall time a trial; default: the scenario's.")] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Trials at a time.")] = os.cpu_count() or 1,
    out: Annotated[Path | None, typer.Option(help="Run folder; default: runs/DATE-AGENT.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on in --out; what is sealed is not done again.")] = False,
    kernel: Annotated[bool, typer.Option("--kernel/--no-kernel", help="The kernel channel.")] = True,
    shims: Annotated[bool, typer.Option("--shims/--no-shims", help="The shim channel.")] = True,
    only: OnlyPlugins = None,
    block: BlockPlugins = None,
    as_json: Annotated[bool, typer.Option("--json", help="The summary as JSON.")] = False,
) -> None:
    """Run a bench against one agent in one permission mode.

    Examples: overeager run benches/demo --agent scripted
    ANTHROPIC_API_KEY=… overeager run benches/demo --agent claude-code --upstream provider --model ID --budget 5
    """
    from overeager.run.sandbox_choice import read_sandbox

    plugins = Plugins.read(only, block)
    folder = out or Path("runs") / f"{datetime.now():%Y%m%d-%H%M%S}-{agent.replace('@', '-')}"
    summary = start_run(
        bench,
        folder,
        Wanted.read(agent)._replace(
            mode=mode,
            upstream=upstream,
            model=model,
            sandbox=read_sandbox(sandbox, image),
            variant=variant,
            scenarios=tuple(scenario or ()),
            repeats=repeats,
            budget=budget,
            seconds=seconds,
            kernel=kernel,
            shims=shims,
            plugins=plugins,
        ),
        jobs=jobs,
        resume=resume,
    )
    if as_json:
        print_json(summary)
    say(f"{summary.sealed} trials sealed in {folder}, {summary.invalid} of them do not count")
    say(f"next: {shlex.join([*program(), 'judge', str(folder), *plugins.words])}")
    if summary.invalid or summary.undone:
        raise typer.Exit(1)


class Wanted(NamedTuple):
    """The options of a run, as given."""

    agent: str
    version: str
    """Empty = the adapter's first."""
    mode: str | None = None
    upstream: str = "persona"
    model: str | None = None
    sandbox: str = "bubblewrap"
    variant: VariantChoice = VariantChoice.both
    scenarios: tuple[str, ...] = ()
    repeats: int = 1
    budget: float | None = None
    seconds: int | None = None
    kernel: bool = True
    shims: bool = True
    plugins: Plugins = Plugins()

    @classmethod
    def read(cls, agent: str) -> Wanted:
        """The defaults for NAME or NAME@VERSION."""
        name, _, version = agent.partition("@")
        return cls(name, version)


def start_run(bench: Path, out: Path, wanted: Wanted, jobs: int, resume: bool = False) -> Summary:
    """Compose and execute a run; Ctrl-C seals what is done and says how to go on."""
    from overeager.loading.registry import load_registry
    from overeager.run.session import Session
    from overeager.store.bench import load_bench

    registry = load_registry(READERS, agents=(wanted.agent,), **wanted.plugins._asdict())
    loaded = load_bench(bench)
    check_plugins(loaded, bench, registry)
    check_bench(loaded, bench, registry)
    if wanted.shims and not registry.shims:
        raise OvereagerError(
            "RUN011", "no allowed plugin offers shims, so the shim channel would be blind", cure="add --no-shims"
        )
    choice = choose(wanted, registry.agent(wanted.agent))
    session = Session.prepare(loaded, bench, out, choice, registry, os.environ, wanted.shims, resume)
    said = wanted._replace(plugins=Plugins(registry.chosen.only, registry.chosen.block))
    again = resume_command(bench, out, said, jobs)
    try:
        summary = session.execute(jobs, _progress(len(session.jobs)))
    except KeyboardInterrupt:
        say(f"\nstopped; what was done is sealed. Go on with:\n  {again}")
        raise
    except OvereagerError as error:
        if error.code == "RUN008":
            raise OvereagerError(error.code, error.what, cure=f"mend it, then go on with:\n  {again}") from error
        raise
    if summary.undone:
        say(f"{summary.undone} trials are not done. Go on with:\n  {again}")
    return summary


def choose(wanted: Wanted, adapter: AgentAdapter) -> Choice:
    """The options checked against the adapter; raises RUN004 to RUN007 with the cure."""
    from importlib.metadata import version

    from overeager.errors import near_miss
    from overeager.model.bundle import Cell
    from overeager.run.plan import Choice

    modes = [mode.id for mode in adapter.modes]
    mode = wanted.mode or modes[0]
    if mode not in modes:
        raise OvereagerError(
            "RUN004", f"{adapter.id} has no mode '{mode}'", cure=near_miss(mode, modes) or f"it has: {', '.join(modes)}"
        )
    upstream, personas = _read_upstream(wanted.upstream, adapter)
    if upstream == "provider" and not wanted.model:
        raise OvereagerError("RUN006", "a real model needs its id", cure="add --model, for example claude-sonnet-4-6")
    own = version("overeager") if adapter.vendor is None else adapter.vendor.releases[0].version
    if adapter.vendor is None and wanted.version not in ("", own):
        raise OvereagerError(
            "RUN012", f"{adapter.id} has no version to choose", cure=f"write --agent {adapter.id}; it is {own}"
        )
    cell = Cell(
        agent=adapter.id,
        version=wanted.version or own,
        mode=mode,
        upstream=upstream,
        model=wanted.model or ("scripted" if adapter.wire_api is None else "claude-sonnet-4-6"),
        responder="nobody",
        sandbox=wanted.sandbox,
        kernel=wanted.kernel,
    )
    return Choice(
        cell=cell,
        variants=_variants(wanted.variant),
        personas=personas,
        repeats=wanted.repeats,
        scenarios=wanted.scenarios,
        seconds=wanted.seconds,
        budget_usd=wanted.budget,
    )


def _read_upstream(text: str, adapter: AgentAdapter) -> tuple[str, tuple[PersonaName, ...]]:
    from overeager.errors import near_miss
    from overeager.model.vocabulary import PERSONAS

    kind, _, name = text.partition(":")
    if kind == "null" and not name:
        return "null", ()
    if kind == "provider" and not name:
        if adapter.wire_api is None:
            raise OvereagerError("RUN005", f"{adapter.id} speaks to no model", cure="use --upstream persona")
        return "provider", ()
    chosen = tuple(persona for persona in PERSONAS if name in ("", persona))
    if kind != "persona" or not chosen:
        known = ["provider", "null", "persona", *(f"persona:{persona}" for persona in PERSONAS)]
        raise OvereagerError(
            "RUN005", f"there is no upstream '{text}'", cure=near_miss(text, known) or f"there are: {', '.join(known)}"
        )
    return "persona", chosen


def _variants(choice: VariantChoice) -> tuple[Variant, ...]:
    both: tuple[Variant, ...] = ("consent_kept", "consent_stripped")
    return both if choice is VariantChoice.both else (f"consent_{choice.value}",)  # type: ignore[return-value]


def _progress(total: int) -> Callable[[Outcome, str], None]:
    """A line an outcome in a pipe, a bar on a terminal; no thread, since workers may be forked later."""
    import sys

    done = 0

    def plain(outcome: Outcome, name: str) -> None:
        nonlocal done
        done += 1
        say(f"[{done}/{total}] {name} attempt {outcome.attempt}: {outcome.ending} {outcome.detail}".rstrip())

    if not sys.stderr.isatty():
        return plain

    def drawn(outcome: Outcome, name: str) -> None:
        nonlocal done
        done += 1
        filled = 24 * min(done, total) // max(1, total)
        bar = "█" * filled + "░" * (24 - filled)
        sys.stderr.write(f"\r\033[K{bar} {done}/{total}  {name}: {outcome.ending}")
        if outcome.ending != "completed" or done >= total:
            sys.stderr.write("\n")
        sys.stderr.flush()

    return drawn
