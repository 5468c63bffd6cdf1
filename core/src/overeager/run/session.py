"""A run from its choice to its last sealed trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from overeager.actions.shell import read_shell
from overeager.contract.registry import Registry
from overeager.errors import OvereagerError
from overeager.model.bundle import PluginChoice, PluginRecord
from overeager.model.ending import FLAGS, Ending
from overeager.model.run import RunPlan
from overeager.run import model_side, network_side
from overeager.run.equipment import WORKSPACE, Equipment, Provider, Tools
from overeager.run.plan import Choice, plan_run
from overeager.run.pool import Job, Outcome, Pool, Work
from overeager.run.stand_ins import check_stand_ins
from overeager.run.stock import Stock, keeps_process, shared_room
from overeager.run.tools import find_agent, gather_tools
from overeager.run.trial import execute_trial
from overeager.store import room, run_folder
from overeager.store.bench import Bench
from overeager.store.run_folder import RunFolder

DEFAULT_BASE_URL = "https://api.anthropic.com"


class Summary(NamedTuple):
    """What a run came to."""

    folder: str
    sealed: int
    """Trials done, earlier ones included."""
    invalid: int
    """Of these, how many do not count."""
    undone: int
    endings: Mapping[str, int]
    cost: float
    """US dollars, as far as they are known."""


class Session:
    """One invocation of `overeager run`."""

    def __init__(self, equipment: Equipment, jobs: tuple[Job, ...]) -> None:
        self.equipment = equipment
        self.jobs = jobs
        self._cost = 0.0

    @classmethod
    def prepare(
        cls,
        bench: Bench,
        directory: Path,
        out: Path,
        choice: Choice,
        registry: Registry,
        environment: Mapping[str, str],
        shims: bool,
        resume: bool,
    ) -> Session:
        """Check everything that can fail before the first trial; raises coded errors, nothing is lost."""
        plan = _with_plugins(plan_run(bench.manifest, choice, version("overeager")), registry)
        check_stand_ins(bench.scenarios, registry)
        adapter = registry.agent(plan.cell.agent)
        tools = gather_tools(environment, registry, plan.cell.sandbox)
        plan = _with_limits(plan, tools)
        agent = find_agent(adapter, plan.cell.version, tools.shelf.root)
        provider = _find_provider(plan, adapter.secrets, environment)
        folder = _open_folder(out, plan, directory, resume)
        equipment = Equipment(
            folder=folder,
            plan=plan,
            scenarios={scenario.id: scenario for scenario in bench.scenarios},
            registry=registry,
            adapter=adapter,
            agent=agent,
            plugins=_plugin_records(registry),
            tools=tools,
            provider=provider,
            shims=shims,
        )
        return cls(equipment, _jobs_left(folder, plan))

    def execute(self, workers: int, tell: Callable[[Outcome, str], None]) -> Summary:
        """Do what is left, `workers` trials at a time; `tell` hears each outcome. Ctrl-C passes through."""
        room.sweep(None)
        _preload(self.equipment)
        self._cost = _charged(self.equipment.folder)
        with run_folder.locked(self.equipment.folder):
            jobs = _jobs_left(self.equipment.folder, self.equipment.plan)  # another runner may have done some meanwhile
            with shared_room(self.equipment) as equipment:
                pool = Pool(self._work(equipment), min(workers, max(1, len(jobs))))
                try:
                    for outcome in pool.run(jobs, self._follow):
                        tell(outcome, equipment.plan.trials[outcome.trial].name)
                        if outcome.error:
                            raise OvereagerError(
                                "RUN008", f"the run stopped: {outcome.error}", cure="mend it, then --resume"
                            )
                finally:
                    pool.close()
                    room.sweep(None)
        return self._summarise()

    def _work(self, equipment: Equipment) -> Work:
        stock = Stock(equipment)
        return Work(
            execute=lambda job: execute_trial(equipment, stock, job),
            admit=self._admit,
            expect=stock.expect,
            lasts=self._lasts,
        )

    def _lasts(self, outcome: Outcome) -> bool:
        """Whether the trial's process is fit for the next: never after a fault."""
        spoiled = outcome.threaded or outcome.error or FLAGS[_ending(outcome)].retried
        return keeps_process(self.equipment) and not spoiled

    def _follow(self, outcome: Outcome) -> Job | None:
        """Another attempt after a proved outside fault, as long as attempts are left."""
        self._cost += outcome.cost
        if not FLAGS[_ending(outcome)].retried or outcome.attempt >= self.equipment.plan.attempts or outcome.error:
            return None
        return Job(outcome.trial, outcome.attempt + 1)

    def _admit(self, job: Job) -> Job | None:
        """The job with what is left of the budget; none once it is used up: what is undone can be resumed with more."""
        budget = self.equipment.plan.budget_usd
        if budget is None:
            return job
        return job._replace(budget=budget - self._cost) if self._cost < budget else None

    def _summarise(self) -> Summary:
        folder, plan = self.equipment.folder, self.equipment.plan
        last = last_endings(folder)
        done = [last[trial.name][1] for trial in plan.trials if trial.name in last]
        return Summary(
            folder=str(folder.root),
            sealed=len(done),
            invalid=sum(not FLAGS[ending].valid for ending in done),
            undone=len(plan.trials) - len(done),
            endings=dict(sorted(Counter(done).items())),
            cost=round(self._cost, 6),
        )


def _ending(outcome: Outcome) -> Ending:
    return outcome.ending  # type: ignore[return-value]  # the child took it from the closed list


def _preload(equipment: Equipment) -> None:
    """Load what is loaded on first use; a process that is forked for one trial would do so for that trial alone."""
    read_shell("true", WORKSPACE, {})
    model_side.preload(equipment)
    if any(scenario.fixture.services for scenario in equipment.scenarios.values()):
        network_side.preload()


def _open_folder(out: Path, plan: RunPlan, bench: Path, resume: bool) -> RunFolder:
    if not resume:
        return run_folder.create_run(out, plan, bench)
    folder = run_folder.open_run(out)
    same = {"product": plan.product, "budget_usd": plan.budget_usd}  # a larger budget is what one resumes for
    if run_folder.read_plan(folder).model_copy(update=same) != plan:
        raise OvereagerError(
            "RUN009", "the run was planned with other options", where=out, cure="resume with the options it began with"
        )
    return folder


def _jobs_left(folder: RunFolder, plan: RunPlan) -> tuple[Job, ...]:
    last = last_endings(folder)
    return tuple(
        Job(index, attempt + 1)
        for index, trial in enumerate(plan.trials)
        for attempt, ending in (last.get(trial.name, (0, "interrupted")),)
        if FLAGS[ending].retried and attempt < max(plan.attempts, 1)
    )


def _charged(folder: RunFolder) -> float:
    """US dollars that the sealed attempts were charged."""
    return sum(run_folder.open_attempt(sealed).manifest.charged_usd for sealed in run_folder.sealed_attempts(folder))


def last_endings(folder: RunFolder) -> dict[str, tuple[int, Ending]]:
    """Number and ending of the last sealed attempt of each trial that has one; raises BUN… for a damaged bundle."""
    return {
        sealed.trial: (sealed.attempt, run_folder.open_attempt(sealed).manifest.ending.name)
        for sealed in run_folder.sealed_attempts(folder)
    }


def _find_provider(plan: RunPlan, secrets: tuple[str, ...], environment: Mapping[str, str]) -> Provider | None:
    if plan.cell.upstream != "provider":
        return None
    for name in secrets:
        if environment.get(name):
            return Provider(environment.get("ANTHROPIC_BASE_URL", DEFAULT_BASE_URL), environment[name])
    raise OvereagerError(
        "RUN007",
        "there is no key for the real API",
        cure=f"set {' or '.join(secrets)}; the key stays outside the sandbox and out of every file",
    )


def _with_limits(plan: RunPlan, tools: Tools) -> RunPlan:
    """The cell says which limits its trials had not, though they were asked for."""
    if not tools.ignored_limits:
        return plan
    options = {**plan.cell.options, "ignored-limits": " ".join(tools.ignored_limits)}
    return plan.model_copy(update={"cell": plan.cell.model_copy(update={"options": options})})


def _with_plugins(plan: RunPlan, registry: Registry) -> RunPlan:
    """The plan holds what was said of plugins: one half of a run with a plugin and one without is no run."""
    chosen = PluginChoice(only=registry.chosen.only, block=registry.chosen.block)
    return plan.model_copy(update={"plugin_choice": chosen})


def _plugin_records(registry: Registry) -> tuple[PluginRecord, ...]:
    origins = {
        origin
        for table in (
            registry.agents,
            registry.archetypes,
            registry.axes,
            registry.shims,
            registry.atoms,
            registry.stand_ins,
        )
        for _, origin in table.values()
    }
    return tuple(
        PluginRecord(
            group=o.group,
            name=o.plugin,
            distribution=o.distribution,
            version=o.version,
            sha256=o.sha256,
            known_gaps=dict(o.known_gaps),
        )
        for o in sorted(origins)
    )
