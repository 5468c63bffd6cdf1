"""What gh changes: pull requests, issues, releases, secrets, gists, runs."""

from __future__ import annotations

import json

from overeager.builtin.stand_ins.gh_show import NAMES, find_object, find_repository, make_url, report_missing
from overeager.builtin.stand_ins.routing import Act, Request
from overeager.builtin.stand_ins.words import drop, identify, objects, put, text, texts
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Ask, State


def _body(request: Request) -> str | Ask:
    """What --body or --body-file gives."""
    path = request.value("-F", "--body-file", "--notes-file")
    if path is None:
        return request.value("-b", "--body", "-n", "--notes") or ""
    if path == "-":
        return Ask(stdin=True) if request.call.stdin is None else request.call.stdin.decode("utf-8", "surrogateescape")
    if path not in request.call.files:
        return Ask(files=(path,))
    return (request.call.files[path] or b"").decode("utf-8", "surrogateescape")


def create_object(kind: str) -> Act:
    """pr create, issue create, release create."""

    def act(request: Request) -> Answer | Ask:
        body = _body(request)
        if isinstance(body, Ask):
            return body
        title = request.value("-t", "--title") or ""
        if kind == "release":
            if not request.operands:
                return Answer(stderr="tag required when not running interactively\n", status=1)
            name = request.operands[0]
        else:
            if not title and not request.has("-f", "--fill"):
                return Answer(
                    stderr="must provide `--title` and `--body` (or `--fill`) when not running interactively\n",
                    status=1,
                )
            name = _next_number(request.state)
        fields: dict[str, Json] = {
            "title": title,
            "body": body,
            "author": "user",
            "labels": list(request.all_values("-l", "--label")),
        }
        if kind == "pr":
            fields |= {
                "branch": request.value("-H", "--head") or "",
                "base": request.value("-B", "--base") or "main",
                "draft": request.has("-d", "--draft"),
            }
        state = put(request.state, kind, name, **({"state": "OPEN", **fields} if kind != "release" else fields))
        return Answer(
            f"https://github.com/{find_repository(request)}/releases/tag/{name}\n"
            if kind == "release"
            else f"{make_url(request, kind, name)}\n",
            state=state,
        )

    return act


def _next_number(state: State) -> str:
    known = [int(name) for kind in ("pr", "issue") for name in objects(state, kind) if name.isdigit()]
    return str(max(known, default=0) + 1)


def change_object(kind: str, said: str, **attributes: Json) -> Act:
    """pr merge, close, reopen, ready; issue close, reopen, lock."""

    def act(request: Request) -> Answer | Ask:
        found = find_object(request, kind)
        if found is None:
            return report_missing(request, kind)
        name, one = found
        if attributes.get("state") == "MERGED" and text(one, "state", "OPEN") != "OPEN":
            return Answer(stderr=f"Pull request #{name} is not open\n", status=1)
        more: dict[str, Json] = {}
        if attributes.get("state") == "MERGED":
            more = {"merged_by": "user", "admin": True} if request.has("--admin") else {"merged_by": "user"}
        state = put(request.state, kind, name, **{**attributes, **more})
        remark = request.value("-c", "--comment")
        if remark and kind in ("pr", "issue") and "MERGED" not in attributes.values():
            state = _comment_on(state, kind, name, remark)
        return Answer(stderr=said.format(name=name, title=text(one, "title")) + "\n", state=state)

    return act


def _comment_on(state: State, kind: str, name: str, body: str, **more: Json) -> State:
    count = sum(key.startswith(f"{kind}-{name}-") for key in objects(state, "comment"))
    return put(state, "comment", f"{kind}-{name}-{count + 1}", body=body, author="user", **more)


def add_comment(kind: str) -> Act:
    """pr comment, issue comment, pr review."""

    def act(request: Request) -> Answer | Ask:
        found, body = find_object(request, kind), _body(request)
        if found is None:
            return report_missing(request, kind)
        if isinstance(body, Ask):
            return body
        verdict = next((flag[2:] for flag in ("--approve", "--request-changes") if request.has(flag)), "comment")
        more: dict[str, Json] = {"verdict": verdict} if request.verb == "pr review" else {}
        if not body and verdict == "comment":
            return Answer(stderr="flags required when not running interactively\n", status=1)
        return Answer(
            f"{make_url(request, kind, found[0])}#issuecomment-1\n",
            state=_comment_on(request.state, kind, found[0], body, **more),
        )

    return act


def edit_object(kind: str) -> Act:
    """pr edit, issue edit, repo edit, release edit."""

    def act(request: Request) -> Answer | Ask:
        found, body = find_object(request, kind), _body(request)
        if kind == "repo":
            name = request.operands[0] if request.operands else find_repository(request)
            found = name, objects(request.state, "repo").get(name, {})
        if found is None:
            return report_missing(request, kind)
        if isinstance(body, Ask):
            return body
        name, one = found
        labels = [label for label in texts(one, "labels") if label not in request.all_values("--remove-label")]
        changed: dict[str, Json] = (
            {"labels": [*labels, *request.all_values("--add-label")]}
            if request.value("--add-label", "--remove-label")
            else {}
        )
        for key, options in (
            ("title", ("-t", "--title")),
            ("base", ("-B", "--base")),
            ("visibility", ("--visibility",)),
            ("description", ("-d", "--description")),
        ):
            if request.value(*options):
                changed[key] = request.value(*options)
        if body:
            changed["body"] = body
        return Answer(f"{make_url(request, kind, name)}\n", state=put(request.state, kind, name, **changed))

    return act


def delete_object(kind: str) -> Act:
    """issue, release, repo, secret, variable, gist and run delete; what lasts is refused without --yes."""

    def act(request: Request) -> Answer:
        name = request.operands[0] if request.operands else (find_repository(request) if kind == "repo" else "")
        if name.lstrip("#") not in objects(request.state, kind):
            return report_missing(request, kind)
        if kind in ("issue", "repo", "release", "gist") and not request.has("--yes", "-y", "--confirm"):
            return Answer(stderr="--yes required when not running interactively\n", status=1)
        return Answer(
            stderr=f"✓ Deleted {NAMES.get(kind, kind)} {name}\n", state=drop(request.state, kind, (name.lstrip("#"),))
        )

    return act


def set_secret(request: Request) -> Answer | Ask:
    """secret set, variable set; of a secret only that it was set is kept."""
    if not request.operands:
        return Answer(stderr="must pass name argument\n", status=1)
    if request.value("-b", "--body") is None and request.call.stdin is None:
        return Ask(stdin=True)
    body = request.value("-b", "--body") or (request.call.stdin or b"").decode("utf-8", "replace")
    kind = request.verb.partition(" ")[0]
    value: dict[str, Json] = {"digest": identify("secret", body)[:16]} if kind == "secret" else {"value": body}
    return Answer(
        f"✓ Set {kind} {request.operands[0]} for {find_repository(request)}\n",
        state=put(request.state, kind, request.operands[0], **value),
    )


def create_gist(request: Request) -> Answer | Ask:
    """gist create: its files are kept with their content."""
    paths = tuple(path for path in request.operands if path != "-")
    missing = tuple(path for path in paths if path not in request.call.files)
    if missing or (not paths and request.call.stdin is None):
        return Ask(stdin=not paths, files=missing)
    unread = next((path for path in paths if request.call.files[path] is None), None)
    if unread is not None:
        return Answer(stderr=f"failed to read file {unread}: no such file or directory\n", status=1)
    content = {path.rpartition("/")[2]: request.call.files[path] for path in paths} or {
        request.value("-f", "--filename") or "gistfile0.txt": request.call.stdin
    }
    files: Json = {name: (data or b"").decode("utf-8", "replace")[:65536] for name, data in content.items()}
    own = identify("gist", json.dumps(files), str(len(objects(request.state, "gist"))))[:32]
    public = request.has("-p", "--public")
    state = put(request.state, "gist", own, files=files, public=public, description=request.value("-d", "--desc") or "")
    return Answer(
        f"https://gist.github.com/user/{own}\n", f"✓ Created {'public' if public else 'secret'} gist\n", state=state
    )


def create_repository(request: Request) -> Answer:
    name = request.operands[0] if request.operands else ""
    if not name or not request.has("--public", "--private", "--internal"):
        return Answer(
            stderr="`--public`, `--private`, or `--internal` required when not running interactively\n", status=1
        )
    full = name if "/" in name else f"user/{name}"
    visibility = next(flag[2:] for flag in ("--public", "--private", "--internal") if request.has(flag))
    return Answer(f"https://github.com/{full}\n", state=put(request.state, "repo", full, visibility=visibility))


def start_workflow(request: Request) -> Answer:
    found = find_object(request, "workflow")
    if found is None:
        return report_missing(request, "workflow")
    number = str(max([1000, *(int(name) for name in objects(request.state, "run") if name.isdigit())]) + 1)
    inputs: dict[str, Json] = {
        key: value
        for key, _, value in (one.partition("=") for one in request.all_values("-f", "--raw-field", "-F", "--field"))
    }
    state = put(
        request.state,
        "run",
        number,
        workflow=found[0],
        status="queued",
        branch=request.value("-r", "--ref") or "main",
        inputs=inputs,
    )
    return Answer(
        f"✓ Created workflow_dispatch event for {found[0]} at {request.value('-r', '--ref') or 'main'}\n", state=state
    )
