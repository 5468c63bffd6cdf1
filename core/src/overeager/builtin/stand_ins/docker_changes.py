"""What docker changes: things made, stopped, removed, pruned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from overeager.builtin.stand_ins.docker_lists import no_such
from overeager.builtin.stand_ins.docker_objects import (
    BUILT_IN,
    find,
    id_of,
    is_anonymous,
    is_running,
    users_of,
    volumes_of,
)
from overeager.builtin.stand_ins.routing import Act, Request
from overeager.builtin.stand_ins.words import drop, number, objects, put, text
from overeager.contract.stand_in import Answer, State


class Removal(NamedTuple):
    """A state without some things, and what is said of each."""

    state: State
    said: str = ""
    errors: str = ""

    @property
    def answer(self) -> Answer:
        """The answer that says so."""
        return Answer(self.said, self.errors, 1 if self.errors else 0, self.state)


def needs_operand(act: Act) -> Act:
    """The verb, with the complaint about a call that names nothing."""

    def checked(request: Request) -> Answer:
        if not request.operands:
            text = f"\"docker {request.verb}\" requires at least 1 argument.\nSee 'docker {request.verb} --help'.\n"
            return Answer(stderr=text, status=1)
        answer = act(request)
        assert isinstance(answer, Answer)
        return answer

    return checked


def remove_containers(request: Request) -> Answer:
    """docker rm."""
    done = Removal(request.state)
    for word in request.operands:
        name = find(done.state, "container", word)
        if name is None:
            done = _fail(done, no_such("container", word).stderr)
        elif is_running(objects(done.state, "container")[name]) and not request.has("-f", "--force"):
            what = (
                f'cannot remove container "/{name}": container is running: stop the container before removing or force'
            )
            done = _fail(done, f"Error response from daemon: {what} remove\n")
        else:
            state = drop(done.state, "container", (name,))
            if request.has("-v", "--volumes"):
                state = drop(state, "volume", _anonymous(state, (name,), done.state))
            done = done._replace(state=state, said=f"{done.said}{word}\n")
    return done.answer


def _anonymous(state: State, names: Iterable[str], before: State) -> tuple[str, ...]:
    """Volumes without a name of their own that only these containers used."""
    used = {volume for name in names for volume in volumes_of(objects(before, "container")[name])}
    known = sorted(volume for volume in used if volume in objects(state, "volume") and is_anonymous(volume))
    return tuple(volume for volume in known if not users_of(state, "volume", volume))


def _fail(done: Removal, error: str) -> Removal:
    return done._replace(errors=done.errors + error)


def set_status(status: str) -> Act:
    """docker stop, start, restart, kill, pause, unpause."""

    def act(request: Request) -> Answer:
        done = Removal(request.state)
        for word in request.operands:
            name = find(done.state, "container", word)
            if name is None:
                done = _fail(done, no_such("container", word).stderr)
                continue
            container = objects(done.state, "container")[name]
            if request.verb.endswith("kill") and not is_running(container):
                done = _fail(
                    done, f"Error response from daemon: cannot kill container: {word}: container is not running\n"
                )
                continue
            state = done.state
            if text(container, "status", "running") != status:
                state = put(state, "container", name, status=status)
            if request.verb.endswith("restart"):
                state = put(state, "container", name, restarts=number(container, "restarts") + 1)
            done = done._replace(state=state, said=f"{done.said}{word}\n")
        return done.answer

    return needs_operand(act)


def remove_images(request: Request) -> Answer:
    """docker rmi."""
    done = Removal(request.state)
    for word in request.operands:
        name = find(done.state, "image", word)
        users = users_of(done.state, "image", name) if name else ()
        if name is None:
            done = _fail(done, f"Error response from daemon: No such image: {word}\n")
        elif users and not request.has("-f", "--force"):
            what = (
                f'conflict: unable to remove repository reference "{word}" (must force) - container {users[0]} is using'
            )
            done = _fail(done, f"Error response from daemon: {what} its referenced image {id_of('image', name)[:12]}\n")
        else:
            said = f"Untagged: {name}\nDeleted: sha256:{id_of('image', name)}\n"
            done = done._replace(state=drop(done.state, "image", (name,)), said=done.said + said)
    return done.answer


def remove_things(kind: str) -> Act:
    """docker volume rm, docker network rm."""

    def act(request: Request) -> Answer:
        done = Removal(request.state)
        for word in request.operands:
            name = find(done.state, kind, word)
            users = users_of(done.state, kind, name) if name else ()
            if name is None and not (kind == "volume" and request.has("-f", "--force")):
                done = _fail(done, no_such(kind, word).stderr)
            elif users and (
                kind == "volume" or any(is_running(objects(done.state, "container")[one]) for one in users)
            ):
                held = f"[{', '.join(id_of('container', one) for one in users)}]"
                what = f"remove {word}: volume is in use - {held}" if kind == "volume" else (
                    f"error while removing network: network {word} has active endpoints"
                )  # fmt: skip
                done = _fail(done, f"Error response from daemon: {what}\n")
            else:
                state = drop(done.state, kind, (name,)) if name else done.state
                done = done._replace(state=state, said=f"{done.said}{word}\n")
        return done.answer

    return needs_operand(act)


def make_volume(request: Request) -> Answer:
    """docker volume create."""
    name = request.operands[0] if request.operands else id_of("volume", str(len(objects(request.state, "volume"))))
    driver = request.value("-d", "--driver") or "local"
    known = name in objects(request.state, "volume")
    return Answer(f"{name}\n", state=request.state if known else put(request.state, "volume", name, driver=driver))


def make_network(request: Request) -> Answer:
    """docker network create."""
    if not request.operands:
        return Answer(stderr='"docker network create" requires exactly 1 argument.\n', status=1)
    name = request.operands[0]
    if name in objects(request.state, "network") or name in BUILT_IN:
        return Answer(stderr=f"Error response from daemon: network with name {name} already exists\n", status=1)
    driver = request.value("-d", "--driver") or "bridge"
    return Answer(id_of("network", name) + "\n", state=put(request.state, "network", name, driver=driver))
