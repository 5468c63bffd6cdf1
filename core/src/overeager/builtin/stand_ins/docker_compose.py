"""docker compose: the containers, networks and volumes of one project."""

from __future__ import annotations

from overeager.builtin.stand_ins.docker_objects import is_running, project_of
from overeager.builtin.stand_ins.routing import Act, Request, Verb, make_program, route
from overeager.builtin.stand_ins.words import drop, fill_template, objects, put, table, text, texts
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Ask, Attributes, Call, State


def respond(call: Call, state: State) -> Answer | Ask:
    """What docker compose says; argv[0] is `docker compose`."""
    return route(_PROGRAM, call, state)


def _project(request: Request) -> str:
    """By option or environment, else the only one that there is, else the folder's name."""
    named = request.value("-p", "--project-name") or request.call.environment.get("COMPOSE_PROJECT_NAME")
    known = _projects(request.state)
    folder = request.call.cwd.rstrip("/").rpartition("/")[2].lower()
    return named or (known[0] if len(known) == 1 and folder not in known else folder)


def _projects(state: State) -> tuple[str, ...]:
    kinds = ("container", "volume", "network")
    found = {project_of(thing) for kind in kinds for thing in objects(state, kind).values()}
    return tuple(sorted((found | set(objects(state, "compose"))) - {""}))


def _members(state: State, kind: str, project: str) -> dict[str, Attributes]:
    return {name: thing for name, thing in objects(state, kind).items() if project_of(thing) == project}


def _chosen(request: Request) -> dict[str, Attributes]:
    """The project's containers, of the services that are named."""
    found = _members(request.state, "container", _project(request))
    return {name: one for name, one in found.items() if not request.operands or _service(name, one) in request.operands}


def _service(name: str, container: Attributes) -> str:
    return text(container, "service") or name


def list_projects(request: Request) -> Answer:
    """docker compose ls."""
    rows = []
    for project in _projects(request.state):
        running = sum(map(is_running, _members(request.state, "container", project).values()))
        if running or request.has("-a", "--all"):
            config = text(objects(request.state, "compose").get(project, {}), "config", f"/srv/{project}/compose.yaml")
            rows.append((project, f"running({running})" if running else "exited(0)", config))
    if request.has("-q", "--quiet"):
        return Answer("".join(f"{row[0]}\n" for row in rows))
    return Answer(table(("NAME", "STATUS", "CONFIG FILES"), rows, gap=16))


def list_services(request: Request) -> Answer:
    """docker compose ps."""
    chosen = {name: one for name, one in _chosen(request).items() if is_running(one) or request.has("-a", "--all")}
    if request.has("-q", "--quiet"):
        return Answer("".join(f"{name}\n" for name in chosen))
    if request.has("--services"):
        return Answer("".join(f"{_service(name, one)}\n" for name, one in chosen.items()))
    fields: list[dict[str, Json]] = [
        {
            "Name": name,
            "Image": text(one, "image"),
            "Command": f'"{text(one, "command", "docker-entrypoint.s…")}"',
            "Service": _service(name, one),
            "Created": text(one, "created", "2 weeks ago"),
            "Status": "Up 2 weeks" if is_running(one) else "Exited (0) 2 weeks ago",
            "Ports": ", ".join(texts(one, "ports")),
        }
        for name, one in chosen.items()
    ]
    if request.value("--format") == "json":
        return Answer("".join(fill_template("{{json .}}", one) + "\n" for one in fields))
    head = ("NAME", "IMAGE", "COMMAND", "SERVICE", "CREATED", "STATUS", "PORTS")
    return Answer(table(head, [[str(value) for value in one.values()] for one in fields]))


def take_down(request: Request) -> Answer:
    """docker compose down."""
    project, state, lines = _project(request), request.state, []
    if request.operands:
        return _remove(request, _chosen(request), state)
    for name in _members(state, "container", project):
        lines += [f" Container {name}  Stopping", f" Container {name}  Stopped", f" Container {name}  Removed"]
    state = drop(state, "container", _members(state, "container", project))
    if request.has("-v", "--volumes"):
        lines += [f" Volume {name}  Removed" for name in _members(state, "volume", project)]
        state = drop(state, "volume", _members(state, "volume", project))
    if request.value("--rmi"):
        images = {text(one, "image") for one in _members(request.state, "container", project).values()}
        lines += [f" Image {name}  Removed" for name in sorted(images)]
        state = drop(state, "image", images)
    lines += [f" Network {name}  Removed" for name in _members(state, "network", project)]
    state = drop(state, "network", _members(state, "network", project))
    return Answer(stderr="".join(f"{line}\n" for line in lines), state=state)


def _remove(request: Request, chosen: dict[str, Attributes], state: State) -> Answer:
    lines = "".join(f" Container {name}  Removed\n" for name in chosen)
    return Answer(stderr=lines, state=drop(state, "container", chosen))


def remove_services(request: Request) -> Answer:
    """docker compose rm: what is stopped, with -s all that is named."""
    chosen = {name: one for name, one in _chosen(request).items() if not is_running(one) or request.has("-s", "--stop")}
    return _remove(request, chosen, request.state) if chosen else Answer("No stopped containers\n")


def bring_up(request: Request) -> Answer:
    """docker compose up: the services of the project as the state describes them, and what exists is started."""
    project, state, lines = _project(request), request.state, ""
    config = objects(state, "compose").get(project, {})
    services = config.get("services")
    known = _members(state, "container", project)
    if not known and not isinstance(services, dict):
        return Answer(stderr="no configuration file provided: not found\n", status=14)
    for volume in texts(config, "volumes"):
        if volume not in objects(state, "volume"):
            state = put(state, "volume", volume, driver="local", project=project)
            lines += f" Volume {volume}  Created\n"
    for service, described in (services if isinstance(services, dict) else {}).items():
        name = f"{project}-{service}-1"
        if name not in known and isinstance(described, dict) and (not request.operands or service in request.operands):
            state = put(
                state, "container", name, **{**described, "project": project, "service": service, "status": "running"}
            )
            lines += f" Container {name}  Created\n Container {name}  Started\n"
    started = request._replace(state=state)
    for name, one in _chosen(started).items():
        if not is_running(one) or request.has("--force-recreate"):
            state = put(state, "container", name, status="running")
            lines += f" Container {name}  Started\n"
    return Answer(stderr=lines, state=state)


def set_services(status: str, word: str) -> Act:
    """docker compose stop, start, restart, kill."""

    def act(request: Request) -> Answer:
        state, lines = request.state, ""
        for name, one in _chosen(request).items():
            if text(one, "status", "running") != status:
                state = put(state, "container", name, status=status)
            if word == "Restarted":
                restarts = one.get("restarts", 0)
                state = put(state, "container", name, restarts=restarts + 1 if isinstance(restarts, int) else 1)
            lines += f" Container {name}  {word}\n"
        return Answer(stderr=lines, state=state)

    return act


def show_service_logs(request: Request) -> Answer:
    """docker compose logs."""
    said = ""
    for name, one in _chosen(request).items():
        label = name.removeprefix(f"{_project(request)}-")
        said += "".join(f"{label}  | {line}\n" for line in text(one, "logs").splitlines())
    return Answer(said)


def show_config(request: Request) -> Answer:
    """docker compose config."""
    config = objects(request.state, "compose").get(_project(request), {})
    services = config.get("services")
    names = sorted(services) if isinstance(services, dict) else []
    if request.has("--services"):
        return Answer("".join(f"{name}\n" for name in names))
    if request.has("-q", "--quiet"):
        return Answer()
    lines = [f"name: {_project(request)}", "services:"]
    for name in names:
        described = services[name] if isinstance(services, dict) else {}
        lines += [f"  {name}:", f"    image: {text(described, 'image') if isinstance(described, dict) else ''}"]
    return Answer("".join(f"{line}\n" for line in lines))


_PLACE = "-f --file -p --project-name --project-directory --profile --env-file --ansi --progress"
_UP = "-d --detach --build --force-recreate --no-deps --remove-orphans --wait --no-build --no-recreate -V"
_VERBS = (
    Verb("ls", list_projects, "--format --filter", "-a --all -q --quiet"),
    Verb("ps", list_services, "--format --filter --status", "-a --all -q --quiet --services"),
    Verb("down", take_down, "-t --timeout --rmi", "-v --volumes --remove-orphans"),
    Verb("rm", remove_services, "", "-f --force -s --stop -v --volumes"),
    Verb("up", bring_up, "-t --timeout --scale", _UP),
    Verb("stop", set_services("exited", "Stopped"), "-t --timeout"),
    Verb("kill", set_services("exited", "Killed"), "-s --signal"),
    Verb("start", set_services("running", "Started")),
    Verb("restart", set_services("running", "Restarted"), "-t --timeout", "--no-deps"),
    Verb("logs", show_service_logs, "--tail -n --since", "-f --follow -t --timestamps --no-color --no-log-prefix"),
    Verb("config", show_config, "--format", "-q --quiet --services --volumes"),
    Verb("version", lambda _: Answer("Docker Compose version v2.35.1\n"), "--format", "--short"),
)
_PROGRAM = make_program(
    "docker compose", _VERBS, valued=_PLACE, plain="--dry-run", usage="Usage:  docker compose [OPTIONS] COMMAND\n",
    unknown='unknown docker command: "compose {verb}"\n',
)  # fmt: skip
