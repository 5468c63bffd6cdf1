"""docker, answered from a state of containers, images, volumes and networks."""

from __future__ import annotations

from overeager.builtin.commands.arguments import take_apart
from overeager.builtin.stand_ins import docker_changes as changes
from overeager.builtin.stand_ins import docker_compose as compose
from overeager.builtin.stand_ins import docker_lists as lists
from overeager.builtin.stand_ins.docker_objects import find, id_of, is_running
from overeager.builtin.stand_ins.docker_prune import prune, prune_system
from overeager.builtin.stand_ins.routing import Program, Request, Verb, make_program, route
from overeager.builtin.stand_ins.words import fill_template, objects, pairs, put
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Ask, Call, State

_USAGE = """\

Usage:  docker [OPTIONS] COMMAND

A self-sufficient runtime for containers

Common Commands:
  run         Create and run a new container from an image
  exec        Execute a command in a running container
  ps          List containers
  build       Build an image from a Dockerfile
  images      List images

Run 'docker COMMAND --help' for more information on a command.
"""
_UNKNOWN = "docker: '{verb}' is not a docker command.\nSee 'docker --help'\n"
_VERSION = "20.10.24"


def respond(call: Call, state: State) -> Answer | Ask:
    """What docker says; a miss for what is not modelled."""
    words = take_apart(call.argv[1:], _PROGRAM.valued, mixed=False).operands
    if words[:1] == ("compose",):
        return compose.respond(call._replace(argv=("docker compose", *words[1:])), state)
    return route(_PROGRAM, call, state)


def _execute(request: Request) -> Answer:
    """docker exec: only what a state can tell, that is the environment."""
    if len(request.operands) < 2:
        return Answer(stderr='"docker exec" requires at least 2 arguments.\n', status=1)
    name = find(request.state, "container", request.operands[0])
    if name is None:
        return lists.no_such("container", request.operands[0])
    container = objects(request.state, "container")[name]
    if not is_running(container):
        return Answer(
            stderr=f"Error response from daemon: container {id_of('container', name)} is not running\n", status=1
        )
    environment, command = pairs(container, "env"), request.operands[1:]
    if command in (("env",), ("printenv",)):
        return Answer("".join(f"{key}={value}\n" for key, value in environment.items()))
    if command[0] == "printenv" and len(command) == 2:
        value = environment.get(command[1])
        return Answer("" if value is None else f"{value}\n", status=1 if value is None else 0)
    what = f'exec: "{command[0]}": executable file not found in $PATH'
    return Answer(stderr=f"OCI runtime exec failed: {what}: unknown\n", status=127, known=False)


def _start_container(request: Request) -> Answer:
    """docker run -d, docker create."""
    if not request.operands:
        return Answer(stderr='"docker run" requires at least 1 argument.\n', status=1)
    detached = request.verb.endswith("create") or request.has("-d", "--detach")
    image = request.operands[0]
    name = (
        request.value("--name")
        or f"{image.rpartition('/')[2].partition(':')[0]}-{len(objects(request.state, 'container'))}"
    )
    if name in objects(request.state, "container"):
        what = f'Conflict. The container name "/{name}" is already in use'
        return Answer(stderr=f"docker: Error response from daemon: {what}\n", status=125)
    volumes: Json = list(request.all_values("-v", "--volume"))
    ports: Json = list(request.all_values("-p", "--publish"))
    status = "created" if request.verb.endswith("create") else "running"
    state = put(request.state, "container", name, image=image, status=status, volumes=volumes, ports=ports)
    return Answer(f"{id_of('container', name)}\n", state=state if detached else request.state, known=detached)


def _build(request: Request) -> Answer:
    tags = request.all_values("-t", "--tag")
    state = request.state
    for tag in tags:
        state = put(state, "image", tag if ":" in tag.rpartition("/")[2] else f"{tag}:latest", built=True)
    if request.has("--push"):
        for tag in tags:
            state = put(state, "registry", tag, digest=f"sha256:{id_of('registry', tag)}")
    return Answer(stderr="".join(f"#8 naming to {tag} done\n" for tag in tags), state=state)


def _push(request: Request) -> Answer:
    if not request.operands:
        return Answer(stderr='"docker push" requires exactly 1 argument.\n', status=1)
    name = find(request.state, "image", request.operands[0])
    if name is None:
        what = f"An image does not exist locally with the tag: {request.operands[0].partition(':')[0]}"
        return Answer(stderr=f"{what}\n", status=1)
    digest = f"sha256:{id_of('registry', name)}"
    said = (
        "The push refers to repository "
        f"[{name.rpartition(':')[0]}]\n{name.rpartition(':')[2]}: digest: {digest} size: 1786\n"
    )
    return Answer(said, state=put(request.state, "registry", name, digest=digest))


def _pull(request: Request) -> Answer:
    if not request.operands:
        return Answer(stderr='"docker pull" requires exactly 1 argument.\n', status=1)
    word = request.operands[0]
    name = word if ":" in word.rpartition("/")[2] else f"{word}:latest"
    known = name in objects(request.state, "image")
    status = f"Image is up to date for {name}" if known else f"Downloaded newer image for {name}"
    return Answer(f"Status: {status}\n", state=request.state if known else put(request.state, "image", name))


def _tag(request: Request) -> Answer:
    name = find(request.state, "image", request.operands[0]) if len(request.operands) == 2 else None
    if name is None:
        return Answer(stderr=f"Error response from daemon: No such image: {''.join(request.operands[:1])}\n", status=1)
    return Answer(state=put(request.state, "image", request.operands[1], **objects(request.state, "image")[name]))


def _version(request: Request) -> Answer:
    fields: dict[str, Json] = {"Client": {"Version": _VERSION}, "Server": {"Version": _VERSION}}
    if request.value("-f", "--format"):
        return Answer(fill_template(request.value("-f", "--format") or "", fields) + "\n")
    return Answer(f"Client:\n Version:           {_VERSION}\n\nServer:\n Engine:\n  Version:          {_VERSION}\n")


def _info(request: Request) -> Answer:
    containers = objects(request.state, "container")
    running = sum(map(is_running, containers.values()))
    lines = (
        "Client:",
        f" Version:    {_VERSION}",
        "",
        "Server:",
        f" Containers: {len(containers)}",
        f"  Running: {running}",
        f" Images: {len(objects(request.state, 'image'))}",
        f" Server Version: {_VERSION}",
        " Storage Driver: overlay2",
    )
    return Answer("".join(f"{line}\n" for line in lines))


def _contexts(request: Request) -> Answer:
    current = next((name for name, one in objects(request.state, "context").items() if one.get("current")), "default")
    return Answer(f"{current}\n" if request.verb == "context show" else f"NAME\n{current} *\n")


_LIST = ("-f --filter --format -n --last", "-a --all -q --quiet --no-trunc -l --latest -s --size --digests")
_REMOVE = "-f --force -v --volumes -l --link --no-prune"
_PRUNE = ("--filter", "-a --all -f --force --volumes")


def _telling() -> tuple[Verb, ...]:
    return (
        *(
            Verb(words, lists.list_containers, *_LIST)
            for words in ("ps", "container ls", "container ps", "container list")
        ),
        *(Verb(words, lists.list_images, *_LIST) for words in ("images", "image ls", "image list")),
        *(Verb(words, lists.list_volumes, *_LIST) for words in ("volume ls", "volume list")),
        *(Verb(words, lists.list_networks, *_LIST) for words in ("network ls", "network list")),
        *(
            Verb(words, lists.show_logs, "-n --tail --since --until", "-f --follow -t --timestamps --details")
            for words in ("logs", "container logs")
        ),
        Verb(
            "inspect", lists.inspector(("container", "image", "volume", "network")), "-f --format --type", "-s --size"
        ),
        *(
            Verb(f"{kind} inspect", lists.inspector((kind,)), "-f --format", "-s --size -v --verbose")
            for kind in ("container", "image", "volume", "network")
        ),
        Verb("system df", lists.show_disk_use, "--format", "-v --verbose"),
        Verb("version", _version, "-f --format"),
        Verb("info", _info, "-f --format"),
        *(Verb(words, _contexts, "--format", "-q") for words in ("context ls", "context show")),
    )


def _changing() -> tuple[Verb, ...]:
    return (
        *(
            Verb(words, changes.needs_operand(changes.remove_containers), "", _REMOVE)
            for words in ("rm", "container rm")
        ),
        *(Verb(words, changes.needs_operand(changes.remove_images), "", _REMOVE) for words in ("rmi", "image rm")),
        *(
            Verb(f"{kind} {word}", changes.remove_things(kind), "", "-f --force")
            for kind in ("volume", "network")
            for word in ("rm", "remove")
        ),
        *(
            Verb(f"{prefix}{word}", changes.set_status(status), "-t --time -s --signal --timeout")
            for prefix in ("", "container ")
            for word, status in _STATUS.items()
        ),
        Verb("volume create", changes.make_volume, "-d --driver --label --opt -o --name"),
        Verb(
            "network create", changes.make_network, "-d --driver --subnet --gateway --label", "--attachable --internal"
        ),
        Verb("system prune", prune_system, *_PRUNE),
        *(Verb(f"{kind} prune", prune(kind), *_PRUNE) for kind in ("container", "image", "volume", "network")),
        Verb("builder prune", lambda _: Answer("Total:\t0B\n"), *_PRUNE),
    )


def _making() -> tuple[Verb, ...]:
    return (
        *(
            Verb(
                words, _execute, "-e --env -u --user -w --workdir", "-i -t -d --detach --interactive --tty", mixed=False
            )
            for words in ("exec", "container exec")
        ),
        *(
            Verb(words, _start_container, _RUN, "-d --detach -i -t --rm --init --privileged", mixed=False)
            for words in ("run", "create", "container run", "container create")
        ),
        *(
            Verb(
                words,
                _build,
                "-t --tag -f --file --build-arg --target --platform --progress",
                "-q --no-cache --pull --push --load",
            )
            for words in ("build", "image build", "buildx build")
        ),
        *(Verb(words, _push, "", "-a --all-tags -q --quiet") for words in ("push", "image push")),
        *(Verb(words, _pull, "--platform", "-q --quiet -a") for words in ("pull", "image pull")),
        *(Verb(words, _tag) for words in ("tag", "image tag")),
    )


_STATUS = {
    "stop": "exited",
    "start": "running",
    "restart": "running",
    "kill": "exited",
    "pause": "paused",
    "unpause": "running",
}
_RUN = (
    "--name -v --volume -p --publish -e --env --network --net --restart -w --workdir -u --user --entrypoint -l --label "
    "--env-file --mount -m --memory --cpus --platform --pull --hostname"
)


_PROGRAM: Program = make_program(
    "docker",
    (*_telling(), *_changing(), *_making()),
    valued="-H --host -c --context --config -l --log-level",
    plain="-D --debug --tls",
    usage=_USAGE,
    unknown=_UNKNOWN,
)
