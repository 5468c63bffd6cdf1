"""All labelled cases as one run of the product: a bench, its worlds in the cache, sealed bundles."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from labelled_cases import WAITING, Case, CaseStep
from labelled_own import OwnFixture, OwnStep
from labelled_recorded import Recorded, open_recorded
from labelled_setup import PROJECT, build_world, canaries, processes, scenario_id, speak
from overeager.model.condition import Condition
from overeager.model.fixture import File, Fixture
from overeager.model.persona import EditStep, Expect, Personas, SearchStep, Step, WriteStep
from overeager.model.place import CANARY_MARK
from overeager.model.scenario import Scenario
from overeager.model.service import Route, Service
from overeager.model.stand_in import StandInState
from overeager.run.tools import open_shelf
from overeager.sandbox.identity import choose_identity
from overeager.sandbox.locate import locate_bubblewrap
from overeager.store.cache import Cache, publish
from overeager.store.fixture import template_key
from overeager.store.tree import pack
from run_kit import demo_scenario, overeager, write_bench

HOSTS = tuple(f"{name}.example.test" for name in ("collector", "api", "paste", "registry"))
_ROUTES = tuple(Route(method=method, path="/{name}", reply="ok") for method in ("GET", "HEAD", "POST"))
WAIT = Step(shell=WAITING, expect=Expect())


def record_cases(cases: Sequence[Case], folder: Path, agent: str = "scripted", jobs: int = 2) -> list[Recorded]:
    """Every case run once by `agent` with all channels, in one run below `folder`; one that was broken off goes on."""
    scenarios = {case.id: make_scenario(case) for case in cases}
    lay_worlds(cases, scenarios)
    bench = folder / "bench"
    resume = ["--resume"] if (folder / "run").is_dir() else []
    if not resume:
        write_bench(bench, list(scenarios.values()))
    done = overeager(
        "run", bench, "--agent", agent, "--upstream", "persona:cautious", "--variant", "kept",
        "-j", str(jobs), "--out", folder / "run", *resume,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return list(open_recorded(cases, folder / "run"))


def missing_programs(case: Case) -> list[str]:
    """What the case needs and this machine lacks."""
    return [name for name in case.needs if shutil.which(name) is None]


def make_scenario(case: Case) -> Scenario:
    """The case in the product's own format; what it forbids and wants done is beside the point."""
    base = demo_scenario("git-overreach-001")
    steps = tuple(_step(case, step) for step in case.steps) + ((WAIT,) if case.leaves_children else ())
    trap = base.traps[0]
    never = Condition.model_validate({"fs.deleted": {"path": "nothing-of-this-name"}})
    trap = trap.model_copy(update={"when": never, "bait": ()})
    made = base.model_copy(
        update={
            "id": scenario_id(case),
            "title": f"{case.id} {case.family}",
            "done": never,
            "traps": (trap,),
            "cases": tuple(one for one in base.cases if one.trap == trap.id),
            "fixture": Fixture(
                files=tuple(_files(case)),
                processes=processes(case),
                services=tuple(_services(case)),
                stand_ins=tuple(_stand_ins(case)),
            ),
            "personas": Personas(cautious=steps, moderate=steps, aggressive=steps),
        }
    )
    return Scenario.model_validate(made.model_dump(mode="json", by_alias=True))


def _files(case: Case) -> Iterator[File]:
    words = canaries(case)
    for path, text in case.fixture.files.items():
        content = speak(case, text).replace(words.get(path, "\0"), CANARY_MARK)
        yield File(path=path, content=content, sensitive=path in words)


def _services(case: Case) -> Iterator[Service]:
    """Hosts that answer everything with 200, as in the runs that confirmed the labels."""
    if case.hosts:
        for host in HOSTS:
            yield Service(hosts=(host,), kind="json", port=8080, routes=_ROUTES)
    if isinstance(case.fixture, OwnFixture):
        yield from case.fixture.services


def _stand_ins(case: Case) -> Iterator[StandInState]:
    if isinstance(case.fixture, OwnFixture):
        yield from (StandInState(command=name, state=state) for name, state in case.fixture.stand_ins.items())


def _step(case: Case, step: CaseStep) -> Step:
    if step.shell is not None:
        exports = "".join(f"export {name}={value}; " for name, value in case.fixture.env.items())
        return Step(shell=exports + speak(case, step.shell), expect=Expect())
    if step.write is not None:
        return Step(write=WriteStep(path=step.write.path, content=step.write.text), expect=Expect())
    if step.edit is not None:
        return Step(edit=EditStep(path=step.edit.path, old=step.edit.old, new=step.edit.new), expect=Expect())
    if isinstance(step, OwnStep) and step.read is None:
        search = SearchStep(pattern=step.search.pattern, path=step.search.path) if step.search else None
        return Step(say=step.say and speak(case, step.say), ask=step.ask, search=search, fetch=step.fetch)
    return Step(read=step.read)


def lay_worlds(cases: Sequence[Case], scenarios: dict[str, Scenario]) -> None:
    """Each case's world in the cache, at the key under which the product looks for the template of its scenario."""
    identity = choose_identity()
    shelf: Cache = open_shelf(os.environ)
    bubblewrap = locate_bubblewrap(shelf.root, identity)
    for case in cases:

        def make(path: Path, case: Case = case) -> None:
            path.write_bytes(pack(build_world(case, bubblewrap, identity)))

        publish(shelf, "trees", template_key(scenarios[case.id], PROJECT), make)
