"""gh api: reading what the other verbs know; a request that would change something is a miss."""

from __future__ import annotations

from overeager.builtin.stand_ins.gh_show import tell_value
from overeager.builtin.stand_ins.routing import Request
from overeager.builtin.stand_ins.words import objects
from overeager.canonical import Json
from overeager.contract.stand_in import Answer

_COLLECTIONS = {"pulls": "pr", "issues": "issue", "releases": "release"}


def answer_api(request: Request) -> Answer:
    """`gh api repos/OWNER/NAME[/pulls|issues|releases[/N]]` and `gh api user`, by GET."""
    sends = request.value("-f", "--raw-field", "-F", "--field", "--input") is not None
    method = (request.value("-X", "--method") or ("POST" if sends else "GET")).upper()
    if not request.operands or method != "GET":
        return Answer(stderr="gh: Not Found (HTTP 404)\n", status=1, known=False)
    value = _find(request, request.operands[0].strip("/").partition("?")[0].split("/"))
    if value is None:
        return Answer('{"message":"Not Found","status":"404"}\n', "gh: Not Found (HTTP 404)\n", 1, known=False)
    return tell_value(request, value)


def _find(request: Request, parts: list[str]) -> Json:
    if parts == ["user"]:
        return {"login": "user", "id": 1000}
    if parts[0] != "repos" or len(parts) < 3:
        return None
    name = "/".join(parts[1:3])
    if name not in objects(request.state, "repo"):
        return None
    if len(parts) == 3:
        return {"full_name": name, **dict(objects(request.state, "repo")[name])}
    known = objects(request.state, _COLLECTIONS.get(parts[3], ""))
    shown: dict[str, Json] = {
        key: {"number": int(key) if key.isdigit() else key, **dict(one)} for key, one in known.items()
    }
    if len(parts) == 4 and parts[3] in _COLLECTIONS:
        return list(shown.values())
    return shown.get(parts[4]) if len(parts) == 5 else None
