"""What gh shows: lists, single objects, checks."""

from __future__ import annotations

import json
from collections.abc import Mapping

from overeager.builtin.stand_ins.routing import Act, Request
from overeager.builtin.stand_ins.selection import plain, select
from overeager.builtin.stand_ins.words import identify, objects, text, texts
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Attributes

NAMES = {"pr": "pull request", "issue": "issue", "release": "release", "workflow": "workflow", "run": "run"}


def find_repository(request: Request) -> str:
    known = objects(request.state, "repo")
    current = next((name for name, one in known.items() if one.get("current") is True), next(iter(known), "acme/app"))
    return request.value("-R", "--repo") or current


def make_url(request: Request, kind: str, name: str) -> str:
    return f"https://github.com/{find_repository(request)}/{'pull' if kind == 'pr' else kind + 's'}/{name}"


def find_object(request: Request, kind: str) -> tuple[str, Attributes] | None:
    """The object that the first operand names: by number or name, by branch, by its address."""
    word = request.operands[0].rstrip("/").rpartition("/")[2].lstrip("#") if request.operands else ""
    known = objects(request.state, kind)
    if word in known:
        return word, known[word]
    return next(
        ((name, one) for name, one in known.items() if word and word in (text(one, "branch"), text(one, "title"))), None
    )


def report_missing(request: Request, kind: str) -> Answer:
    word = request.operands[0] if request.operands else ""
    if not word:
        return Answer(stderr=f"argument required when running non-interactively: a {NAMES.get(kind, kind)}\n", status=1)
    return Answer(stderr=f'no {NAMES.get(kind, kind)}s found for "{word}"\n', status=1)


def _fields(request: Request, kind: str, name: str, one: Attributes) -> dict[str, Json]:
    """What --json can show."""
    labels: Json = [{"name": label} for label in texts(one, "labels")]
    return {
        **dict(one),
        "number": int(name) if name.isdigit() else name,
        "title": text(one, "title"),
        "state": text(one, "state", "OPEN"),
        "body": text(one, "body"),
        "author": {"login": text(one, "author", "octo")},
        "labels": labels,
        "url": make_url(request, kind, name),
        "headRefName": text(one, "branch"),
        "baseRefName": text(one, "base", "main"),
        "isDraft": one.get("draft") is True,
        "mergeable": text(one, "mergeable", "MERGEABLE"),
        "createdAt": text(one, "created_at", "2026-01-10T09:00:00Z"),
        "name": name,
    }


def _show_json(request: Request, shown: list[dict[str, Json]], single: bool) -> Answer:
    names = [name for part in request.all_values("--json") for name in part.split(",")]
    known = [{name: one.get(name) for name in names} for one in shown]
    value: Json = dict(known[0]) if single and known else [dict(one) for one in known]
    return tell_value(request, value)


def tell_value(request: Request, value: Json) -> Answer:
    """A value as JSON, or what an expression of `--jq` chooses of it."""
    expression = request.value("-q", "--jq")
    if expression is None:
        return Answer(json.dumps(value) + "\n")
    found = select(value, expression)
    if found is None:
        return Answer(stderr=f"failed to parse jq expression: {expression}\n", status=1, known=False)
    return Answer("".join(f"{plain(one)}\n" for one in found))


def list_objects(kind: str) -> Act:
    """pr list, issue list, release list, run list, workflow list, secret list, gist list, repo list."""

    def act(request: Request) -> Answer:
        wanted = (request.value("-s", "--state") or "open").upper()
        listed = [
            (name, one)
            for name, one in objects(request.state, kind).items()
            if kind not in ("pr", "issue") or wanted in ("ALL", text(one, "state", "OPEN"))
        ]
        labels = request.all_values("-l", "--label")
        listed = [(name, one) for name, one in listed if all(label in texts(one, "labels") for label in labels)]
        limit = request.value("-L", "--limit") or ""
        listed = listed[: int(limit)] if limit.isdigit() else listed
        if request.value("--json"):
            return _show_json(request, [_fields(request, kind, name, one) for name, one in listed], single=False)
        if not listed:
            return Answer(stderr=f"no {NAMES.get(kind, kind)}s match your search in {find_repository(request)}\n")
        return Answer("".join("\t".join(_row(kind, name, one)) + "\n" for name, one in listed))

    return act


def _row(kind: str, name: str, one: Attributes) -> tuple[str, ...]:
    date = text(one, "created_at", "2026-01-10T09:00:00Z")
    match kind:
        case "pr":
            return (
                name,
                text(one, "title"),
                text(one, "branch"),
                "DRAFT" if one.get("draft") is True else text(one, "state", "OPEN"),
                date,
            )
        case "issue":
            return name, text(one, "state", "OPEN"), text(one, "title"), ", ".join(texts(one, "labels")), date
        case "release":
            return text(one, "title", name), text(one, "type", "Latest"), name, date
        case "run":
            return (
                text(one, "status", "completed"),
                text(one, "conclusion", "success"),
                text(one, "title", "ci"),
                text(one, "workflow", "ci"),
                text(one, "branch", "main"),
                text(one, "event", "push"),
                name,
            )
        case "workflow":
            return text(one, "title", name), text(one, "state", "active"), identify("workflow", name)[:8]
        case "repo":
            return name, text(one, "description"), text(one, "visibility", "private"), date
    return name, date


def view_object(kind: str) -> Act:
    """pr view, issue view, release view, run view, repo view, gist view."""

    def act(request: Request) -> Answer:
        if kind == "repo" and not request.operands:
            request = request._replace(given=request.given._replace(operands=(find_repository(request),)))
        found = (
            (request.operands[0], objects(request.state, kind)[request.operands[0]])
            if request.operands[:1] and request.operands[0] in objects(request.state, kind)
            else find_object(request, kind)
        )
        if found is None:
            return report_missing(request, kind)
        name, one = found
        if request.value("--json"):
            return _show_json(request, [_fields(request, kind, name, one)], single=True)
        lines = [
            f"title:\t{text(one, 'title', name)}",
            f"state:\t{text(one, 'state', 'OPEN')}",
            f"author:\t{text(one, 'author', 'octo')}",
            f"labels:\t{', '.join(texts(one, 'labels'))}",
            f"number:\t{name}",
            f"url:\t{make_url(request, kind, name)}",
            "--",
            text(one, "body"),
        ]
        if request.has("-c", "--comments"):
            lines += [
                f"comment:\t{text(said, 'body')}"
                for key, said in objects(request.state, "comment").items()
                if key.startswith(f"{kind}-{name}-")
            ]
        return Answer("".join(f"{line}\n" for line in lines))

    return act


def show_status(request: Request) -> Answer:
    """auth status, auth token."""
    account = objects(request.state, "account").get("user", {})
    if request.verb == "auth token":
        token = text(account, "token")
        return Answer(f"{token}\n") if token else Answer(stderr="no oauth token found for github.com\n", status=1)
    return Answer(
        "github.com\n  ✓ Logged in to github.com account user\n  - Active "
        "account: true\n  - Token scopes: 'repo', 'workflow', 'gist'\n"
    )


def show_checks(request: Request) -> Answer:
    found = find_object(request, "pr")
    if found is None:
        return report_missing(request, "pr")
    checks = found[1].get("checks")
    rows: Mapping[str, Json] = checks if isinstance(checks, dict) else {"ci": "pass"}
    return Answer(
        "".join(f"{name}\t{plain(value)}\t1m2s\n" for name, value in rows.items()),
        status=0 if all(value == "pass" for value in rows.values()) else 1,
    )


def show_run(request: Request) -> Answer:
    """run view --log, and its summary without."""
    found = find_object(request, "run")
    if found is None:
        return report_missing(request, "run")
    if request.has("--log", "--log-failed"):
        return Answer(text(found[1], "logs"))
    return view_object("run")(request)  # type: ignore[return-value]  # a view never asks
