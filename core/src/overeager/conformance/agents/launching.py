"""How the CLI is started: the same everywhere, of the task alone, and of nothing that is the host's."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from overeager.conformance.agents.apart import HERE, Call, Told, call_apart, call_twice
from overeager.conformance.agents.subject import Subject
from overeager.conformance.agents.tour import STEPS
from overeager.conformance.check import Check, Unavailable
from overeager.contract.agent import AgentAdapter, Task
from overeager.run.equipment import GATEWAY_HOST, GATEWAY_PORT, HOME, INSTALL, WORKSPACE
from overeager.run.model_side import dummy_key

PROMPT = "Please tidy the notes, then tell me what you did (thanks!)."
_ODD_PROMPTS = ("--help", "", "one\ntwo \u2028 'three' \"four\" $HOME \\", "x" * 100_000)
MODEL = "model-of-the-day"
_SECRET = "the-hosts-own-{}-0f1e2d3c4b5a"
_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY")
"""What a host may hold, whether an adapter declares it or not."""
_CORES = frozenset({"HOME", "USER"})
"""Variables of the core that no launch may change: where the start files lie, and whose they are."""


def tasks(adapter: AgentAdapter) -> tuple[Task, ...]:
    """A task for each version and mode; one more that is answered over stdin."""
    versions = adapter.tested_versions or ("1",)
    made = [_task(adapter, version, mode.id) for version in versions for mode in adapter.modes]
    return (*made, made[0]._replace(interactive=True))


def _task(adapter: AgentAdapter, version: str, mode: str) -> Task:
    releases = [one for one in (adapter.vendor.releases if adapter.vendor else ()) if one.version == version]
    return Task(
        prompt=PROMPT,
        workspace=WORKSPACE,
        home=HOME,
        endpoint=f"http://{GATEWAY_HOST}:{GATEWAY_PORT}" if adapter.wire_api else None,
        key=dummy_key(adapter.wire_api, "check"),
        model=MODEL,
        mode=mode,
        version=version,
        turns=17,
        install=INSTALL,
        binary=f"{INSTALL}/{releases[0].binary}" if releases else "",
        steps=STEPS if adapter.plays_personas else (),
    )


def _calls(adapter: AgentAdapter) -> tuple[Call, ...]:
    usual = tasks(adapter)
    odd = (usual[0]._replace(prompt=prompt) for prompt in _ODD_PROMPTS)
    return tuple((method, (task,)) for task in (*usual, *odd) for method in ("launch", "greet"))


def _launch(subject: Subject) -> Told:
    return call_apart(subject.found, _calls(subject.adapter), HERE._replace(variables=_secrets(subject)))


def _secrets(subject: Subject) -> Mapping[str, str]:
    return {name: _SECRET.format(name) for name in (*_KEYS, *subject.adapter.secrets)}


def find_impurity(subject: Subject) -> Iterator[str]:
    """What a launch touches, and where it differs between two worlds."""
    calls = _calls(subject.adapter)
    here, there = call_twice(subject.found, calls, _secrets(subject))
    answers = zip(calls, here.results, strict=False)
    yield from dict.fromkeys(f"{name} raises {answer['raised']}" for (name, _), answer in answers if "raised" in answer)
    yield from compare(here, there, calls)


def compare(here: Told, there: Told, calls: Sequence[Call]) -> Iterator[str]:
    """The faults that two processes show which were asked the same in different worlds."""
    if failure := here.failure or there.failure:
        yield f"calling it alone {failure}"
        return
    for method in dict.fromkeys(method for method, _ in calls):
        pairs = [
            (one, two) for (name, _), one, two in zip(calls, here.results, there.results, strict=True) if name == method
        ]
        differing = next(((one, two) for one, two in pairs if one != two), None)
        if differing:
            yield f"{method} depends on more than its arguments: {_difference(*differing)}"
    yield from (f"a call {what}" for what in dict.fromkeys(here.touched + there.touched))
    if printed := here.said or there.said:
        yield f"a call prints {printed.splitlines()[0][:80]!r}"


def _difference(one: Any, two: Any) -> str:
    """The first text in which two results differ."""
    mine, other = (json.dumps(value, sort_keys=True) for value in (one, two))
    at = next((n for n, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b), min(len(mine), len(other)))
    return f"…{mine[max(0, at - 30) : at + 50]}… and …{other[max(0, at - 30) : at + 50]}…"


def find_host_paths(subject: Subject) -> Iterator[str]:
    """The host's places in what goes inside; start files that leave the home; a home of the launch's own."""
    told = _launch(subject)
    if told.failure:
        yield f"calling it alone {told.failure}"
    own = sorted({*told.places, *_host_places(subject)}, key=len, reverse=True)
    for text in dict.fromkeys(_texts(told.results)):
        found = next((place for place in own if text == place or f"{place}/" in text), None)
        if found:
            yield f"a launch names the host's {found}: {text[:100]!r}"
    for task in tasks(subject.adapter):
        launch = subject.adapter.launch(task)
        for path in launch.files:
            if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or path.startswith("~"):
                yield f"the start file {path!r} is no path below the home"
        for name in _CORES & launch.environment.keys():
            yield f"a launch sets {name} to {launch.environment[name]!r}; it is the core's to set"


def find_secrets(subject: Subject) -> Iterator[str]:
    """What the host's variables hold in what goes inside."""
    told = _launch(subject)
    if told.failure:
        yield f"calling it alone {told.failure}"
    for name in sorted({*_KEYS, *subject.adapter.secrets}):
        if any(_SECRET.format(name) in text for text in _texts(told.results)):
            yield f"a launch holds what the host's {name} is set to: use `task.key`"


def find_untold(subject: Subject) -> Iterator[str]:
    """Parts of the task that the agent never gets to know."""
    adapter = subject.adapter
    if adapter.plays_personas:
        raise Unavailable("an adapter that plays personas is told its steps instead of a prompt")
    for task in tasks(adapter):
        launch = adapter.launch(task)
        texts = [*launch.argv, *launch.environment.values(), *launch.files.values()]
        if task.interactive:
            texts += [line.decode("utf-8", "replace") for line in adapter.greet(task)]
            if len(texts) == len(launch.argv) + len(launch.environment) + len(launch.files):
                continue  # it has no two-way protocol
        wanted = {"the prompt": task.prompt}
        if adapter.wire_api is not None:
            wanted |= {"the endpoint": task.endpoint or "", "the key": task.key, "the model": task.model}
        for what, value in wanted.items():
            if not any(value in text for text in texts):
                yield f"{what} of a task in mode {task.mode} reaches neither argv, environment nor a start file"
        if not launch.argv or not launch.argv[0].startswith("/"):
            yield f"a launch starts {launch.argv[:1]}, which is no absolute path inside"


def find_equal_modes(subject: Subject) -> Iterator[str]:
    """Modes that start the CLI in the same way."""
    adapter = subject.adapter
    if len(adapter.modes) < 2:
        raise Unavailable("it declares one permission mode")
    for version in adapter.tested_versions or ("1",):
        seen: dict[str, str] = {}
        for mode in adapter.modes:
            launch = adapter.launch(_task(adapter, version, mode.id))
            key = repr((launch.argv, sorted(launch.environment.items()), sorted(launch.files.items())))
            if key in seen:
                yield f"{version} is started alike in the modes {seen[key]} and {mode.id}"
            seen.setdefault(key, mode.id)


def _host_places(subject: Subject) -> Iterator[str]:
    """This user's home, unless it is called as the one inside, and where the plugin lies."""
    home = str(Path("~").expanduser())
    if home not in ("/", HOME):
        yield home
    if (place := str(Path.cwd())) not in ("/", "/tmp", "/usr"):
        yield place
    if file := getattr(sys.modules.get(subject.found.module), "__file__", None):
        yield str(Path(file).parent)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        "agent-launch-pure",
        "`launch` and `greet` are pure: the task alone decides, and nothing is read, written, asked or started.",
        "A launch that looks at the host is another launch on another machine, and two cells that are called alike "
        "are not. Take all from the task; lay what the CLI needs into `Launch.files`.",
        find_impurity,
    ),
    Check(
        "agent-launch-no-host",
        "A launch names no place of the host, lays its files below the home, and leaves HOME and USER alone.",
        "A host's path inside tells the agent where it is, or is not there. Use `task.home`, `task.workspace`, "
        "`task.install` and `task.binary`.",
        find_host_paths,
    ),
    Check(
        "agent-launch-secrets",
        "A launch holds no secret of the host: the only key inside is `task.key`, which opens nothing.",
        "What goes into a sandbox ends up in a bundle that is shared. The gateway adds the real key outside.",
        find_secrets,
    ),
    Check(
        "agent-launch-told",
        "A launch hands on the prompt and, for a model, its name, the endpoint and the key.",
        "An agent that is not told the endpoint calls its vendor and hears nothing; one that is not told the prompt "
        "does nothing, which looks like good behaviour.",
        find_untold,
    ),
    Check(
        "agent-launch-modes",
        "Every permission mode is started in a way of its own.",
        "Two modes that are one fill two columns with one number. Leave out a mode that a version does not have.",
        find_equal_modes,
    ),
)
