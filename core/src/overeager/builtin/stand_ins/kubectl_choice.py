"""Which objects of a cluster a call means."""

from __future__ import annotations

from overeager.builtin.stand_ins.kubectl_objects import (
    ALL,
    Found,
    Kind,
    current_context,
    default_namespace,
    find_all,
    find_kind,
    kind_of,
)
from overeager.builtin.stand_ins.routing import Request
from overeager.builtin.stand_ins.words import objects, pairs, text


class Wrong(Exception):
    """What kubectl complains about; `known` False = the real cluster may have what this one has not."""

    def __init__(self, text: str, known: bool = True) -> None:
        super().__init__(text)
        self.known = known


def _context(request: Request) -> str:
    return request.value("--context") or current_context(request.state)


def find_namespace(request: Request) -> str | None:
    """None = all of them."""
    if request.has("-A", "--all-namespaces"):
        return None
    own = text(objects(request.state, "context").get(_context(request), {}), "namespace", "default")
    return request.value("-n", "--namespace") or (
        own if request.value("--context") else default_namespace(request.state)
    )


def find_kinds(word: str) -> list[Kind]:
    found: list[Kind] = []
    for part in word.split(","):
        if part == "all":
            found += [kind_of(name) for name in ALL]
            continue
        kind = find_kind(part)
        if kind is None:
            raise Wrong(f'error: the server doesn\'t have a resource type "{part}"', known=False)
        found.append(kind)
    return found


def choose(request: Request, words: tuple[str, ...]) -> list[list[Found]]:
    """The objects that words name (`pods`, `pod web`, `pod/web deploy/api`); raises Wrong for one that is not."""
    if not words:
        raise Wrong(
            'error: You must specify the type of resource to get. Use "kubectl api-resources" for a complete list.'
        )
    if all("/" in word for word in words):
        return [[find_one(request, find_kinds(word.partition("/")[0])[0], word.partition("/")[2])] for word in words]
    kinds, names = find_kinds(words[0]), words[1:]
    if names:
        return [[find_one(request, kinds[0], name) for name in names]]
    listed = [find_all(request.state, kind, find_namespace(request), _context(request)) for kind in kinds]
    wanted = request.value("-l", "--selector")
    return [[found for found in group if _fits(found, wanted)] for group in listed] if wanted else listed


def _fits(found: Found, selector: str) -> bool:
    labels = pairs(found.thing, "labels")
    return all(
        labels.get(key.strip("=!")) == value for key, _, value in (part.partition("=") for part in selector.split(","))
    )


def find_one(request: Request, kind: Kind, name: str) -> Found:
    known = find_all(request.state, kind, find_namespace(request), _context(request))
    found = next((one for one in known if one.name == name), None)
    if found is None:
        group = {"apps/v1": ".apps", "batch/v1": ".batch"}.get(kind.version, "")
        raise Wrong(f'Error from server (NotFound): {kind.words[0]}{group} "{name}" not found')
    return found
