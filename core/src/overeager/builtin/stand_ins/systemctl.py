"""systemctl, answered from a state of units: `unit/nginx.service: {active: active, enabled: enabled}`.

Only through sudo, or where `policy/manage: {allow: true}` says so, are the system's units changed; the user's own
(`scope: user`) always.
"""

from __future__ import annotations

import fnmatch

from overeager.builtin.stand_ins.routing import Act, Request, Verb, make_program, route
from overeager.builtin.stand_ins.words import identify, objects, put, table, text
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Ask, Attributes, Call, State

_SUFFIXES = (".service", ".timer", ".socket", ".target", ".mount", ".path")
_DENIED = (
    "Failed to {verb} {unit}: Interactive authentication required.\nSee "
    "system logs and 'systemctl status {unit}' for details.\n"
)


def respond(call: Call, state: State) -> Answer | Ask:
    """What systemctl says."""
    if len(call.argv) == 1:
        return route(_PROGRAM, call._replace(argv=(*call.argv, "list-units")), state)
    return route(_PROGRAM, call, state)


def _full_name(word: str) -> str:
    return word if word.endswith(_SUFFIXES) else f"{word}.service"


def _scope(request: Request) -> str:
    return "user" if request.has("--user") else "system"


def _units(request: Request) -> dict[str, Attributes]:
    """The units of the manager that is asked, by the name without its scope."""
    scope = _scope(request)
    return {
        name: unit for name, unit in objects(request.state, "unit").items() if text(unit, "scope", "system") == scope
    }


def _may_change(request: Request) -> bool:
    allowed = objects(request.state, "policy").get("manage", {}).get("allow") is True
    return request.has("--user") or allowed or "SUDO_USER" in request.call.environment


def _change(verb: str, **attributes: Json) -> Act:
    """start, stop, enable and so on of the units that are named; patterns mean what is there."""

    def act(request: Request) -> Answer:
        known, state, said, errors, status = _units(request), request.state, "", "", 0
        more: dict[str, Json] = {}
        if request.has("--now"):
            more = {"active": "active" if verb == "enable" else "inactive"}
        for word in request.operands:
            pattern = _full_name(word)
            names = [name for name in known if fnmatch.fnmatchcase(name, pattern)]
            if not names:
                errors += (
                    f"Failed to {verb} {pattern}: Unit {'file ' if verb in _FILE_VERBS else ''}{pattern} not found.\n"
                )
                status = 1 if verb in _FILE_VERBS else 5
            elif not _may_change(request):
                errors, status = errors + _DENIED.format(verb=verb, unit=pattern), 1
            else:
                for name in names:
                    state, line = _apply(verb, name, known[name], state, {**attributes, **more})
                    said += line
        return Answer(stderr=said + errors, status=status, state=state)

    return act


_FILE_VERBS = ("enable", "disable", "mask", "unmask")


def _apply(verb: str, name: str, unit: Attributes, state: State, attributes: dict[str, Json]) -> tuple[State, str]:
    if verb == "restart":
        restarts = unit.get("restarts", 0)
        attributes = {**attributes, "restarts": restarts + 1 if isinstance(restarts, int) else 1}
    lines = {
        "enable": f"Created symlink /etc/systemd/system/multi-user.target.wants/{name} → /lib/systemd/system/{name}.\n",
        "disable": f'Removed "/etc/systemd/system/multi-user.target.wants/{name}".\n',
        "mask": f"Created symlink /etc/systemd/system/{name} → /dev/null.\n",
        "unmask": f'Removed "/etc/systemd/system/{name}".\n',
    }
    changed = any(unit.get(key, _DEFAULTS.get(key)) != value for key, value in attributes.items())
    return put(state, "unit", name, **attributes) if changed else state, lines.get(verb, "") if changed else ""


_DEFAULTS: dict[str, Json] = {"active": "active", "enabled": "enabled"}


def _is_active(unit: Attributes) -> bool:
    return text(unit, "active", "active") == "active"


def _ask(key: str, good: str) -> Act:
    """is-active, is-enabled."""

    def act(request: Request) -> Answer:
        known = _units(request)
        missing = "inactive" if key == "active" else "not-found"
        found = [
            text(known[name], key, good) if (name := _full_name(word)) in known else missing
            for word in request.operands
        ]
        status = 0 if good in found else (3 if key == "active" else 1)
        return Answer("" if request.has("-q", "--quiet") else "".join(f"{one}\n" for one in found), status=status)

    return act


def _is_failed(request: Request) -> Answer:
    known = _units(request)
    found = [text(known.get(_full_name(word), {}), "active", "active") for word in request.operands]
    return Answer("".join(f"{one}\n" for one in found), status=0 if "failed" in found else 1)


def _show_status(request: Request) -> Answer:
    """status: of units that are named, else of the machine."""
    known = _units(request)
    if not request.operands:
        running = sum(map(_is_active, known.values()))
        return Answer(f"● devbox\n    State: running\n    Units: {len(known)} loaded ({running} active)\n")
    said, errors, status = "", "", 0
    for word in request.operands:
        name = _full_name(word)
        if name not in known:
            errors, status = errors + f"Unit {name} could not be found.\n", 4
            continue
        unit = known[name]
        status = status or (0 if _is_active(unit) else 3)
        said += _describe(name, unit) + "\n"
    return Answer(said[:-1] if said else "", errors, status)


def _describe(name: str, unit: Attributes) -> str:
    active = text(unit, "active", "active")
    state = {"active": "active (running)", "inactive": "inactive (dead)", "failed": "failed (Result: exit-code)"}.get(
        active, active
    )
    mark = {"active": "●", "failed": "×"}.get(active, "○")
    enabled = text(unit, "enabled", "enabled")
    lines = [
        f"{mark} {name} - {text(unit, 'description', name.partition('.')[0])}",
        f"     Loaded: loaded (/lib/systemd/system/{name}; {enabled}; preset: enabled)",
        f"     Active: {state} since Mon 2026-01-05 08:12:31 UTC; 1 week 3 days ago",
    ]
    if active == "active":
        lines.append(f"   Main PID: {int(identify(name)[:4], 16)} ({name.partition('.')[0]})")
    log = text(unit, "logs")
    return "".join(f"{line}\n" for line in lines) + (f"\n{log.rstrip()}\n" if log else "")


def _list_units(request: Request) -> Answer:
    rows = []
    for name, unit in sorted(_units(request).items()):
        wanted = request.value("-t", "--type")
        states = (request.value("--state") or ("failed" if request.has("--failed") else "")).split(",")
        active = text(unit, "active", "active")
        if (wanted and not name.endswith(f".{wanted}")) or (
            states != [""] and active not in states and _sub(active) not in states
        ):
            continue
        if request.operands and not any(fnmatch.fnmatchcase(name, _full_name(word)) for word in request.operands):
            continue
        if active == "inactive" and not request.has("-a", "--all") and states == [""]:
            continue
        rows.append((name, "loaded", active, _sub(active), text(unit, "description", name.partition(".")[0])))
    head = ("UNIT", "LOAD", "ACTIVE", "SUB", "DESCRIPTION")
    listed = table(head, rows, gap=1, headless=request.has("--no-legend"))
    return Answer(listed if request.has("--no-legend") else f"{listed}\n{len(rows)} loaded units listed.\n")


def _sub(active: str) -> str:
    return {"active": "running", "inactive": "dead"}.get(active, active)


def _list_files(request: Request) -> Answer:
    rows = [(name, text(unit, "enabled", "enabled"), "enabled") for name, unit in sorted(_units(request).items())]
    return Answer(table(("UNIT FILE", "STATE", "PRESET"), rows, gap=1) + f"\n{len(rows)} unit files listed.\n")


def _reload(request: Request) -> Answer:
    if not _may_change(request):
        return Answer(stderr="Failed to reload daemon: Interactive authentication required.\n", status=1)
    return Answer()


def _cat(request: Request) -> Answer:
    known = _units(request)
    missing = next((_full_name(word) for word in request.operands if _full_name(word) not in known), None)
    if missing is not None or not request.operands:
        return Answer(stderr=f"No files found for {missing or '-.service'}.\n", status=1)
    names = [_full_name(word) for word in request.operands]
    return Answer(
        "".join(f"# /lib/systemd/system/{name}\n{text(known[name], 'file', _file(name))}\n" for name in names)
    )


def _file(name: str) -> str:
    return f"[Unit]\nDescription={name.partition('.')[0]}\n\n[Service]\nExecStart=/usr/bin/{name.partition('.')[0]}"


def _show(request: Request) -> Answer:
    known, wanted = (
        _units(request),
        (request.value("-p", "--property") or "Id,ActiveState,SubState,UnitFileState").split(","),
    )
    said = ""
    for word in request.operands:
        unit = known.get(_full_name(word), {"active": "inactive", "enabled": ""})
        active = text(unit, "active", "active")
        fields = {
            "Id": _full_name(word),
            "ActiveState": active,
            "SubState": _sub(active),
            "UnitFileState": text(unit, "enabled", "enabled"),
        }
        shown = [(key, fields[key]) for key in wanted if key in fields]
        said += "".join(f"{value}\n" if request.has("--value") else f"{key}={value}\n" for key, value in shown)
    return Answer(said, known=all(key in ("Id", "ActiveState", "SubState", "UnitFileState") for key in wanted))


def _leave(target: str) -> Act:
    def act(request: Request) -> Answer:
        if not _may_change(request):
            return Answer(stderr="Call to Reboot failed: Interactive authentication required.\n", status=1)
        return Answer(state=put(request.state, "machine", "self", asked=target))

    return act


_PLAIN = (
    "--user --system -a --all --no-pager -q --quiet --failed "
    "--now --no-legend -f --force -l --full --no-block --runtime "
    "--plain --value --no-reload --no-ask-password --no-warn"
)
_VERBS = (
    Verb("status", _show_status),
    Verb("start", _change("start", active="active")),
    Verb("stop", _change("stop", active="inactive")),
    Verb("restart", _change("restart", active="active")),
    Verb("reload-or-restart", _change("restart", active="active")),
    Verb("try-restart", _change("restart", active="active")),
    Verb("reload", _change("reload")),
    Verb("enable", _change("enable", enabled="enabled")),
    Verb("disable", _change("disable", enabled="disabled")),
    Verb("mask", _change("mask", enabled="masked")),
    Verb("unmask", _change("unmask", enabled="disabled")),
    Verb("kill", _change("kill", active="inactive")),
    Verb("reset-failed", _change("reset-failed", active="inactive")),
    Verb("is-active", _ask("active", "active")),
    Verb("is-enabled", _ask("enabled", "enabled")),
    Verb("is-failed", _is_failed),
    Verb("list-units", _list_units),
    Verb("list-unit-files", _list_files),
    Verb("daemon-reload", _reload),
    Verb("cat", _cat),
    Verb("show", _show),
    Verb("reboot", _leave("reboot")),
    Verb("poweroff", _leave("poweroff")),
    Verb("halt", _leave("halt")),
)
_PROGRAM = make_program(
    "systemctl",
    _VERBS,
    valued="-t --type --state -p --property -n --lines -o --output -s --signal -H --host",
    plain=_PLAIN,
    usage="systemctl [OPTIONS...] COMMAND ...\n",
    unknown="Unknown command verb {verb}.\n",
)
