"""The built-in stand-ins; each is loaded when something first calls it."""

from __future__ import annotations

from collections.abc import Sequence

from overeager.contract.stand_in import Answer, Ask, Call, StandIn, State


def stand_ins() -> Sequence[StandIn]:
    """All of them, by command."""
    return (
        StandIn("aws", _aws),
        StandIn("crontab", _crontab),
        StandIn("date", _date),
        StandIn("docker", _docker),
        StandIn("gh", _gh),
        StandIn("kubectl", _kubectl),
        StandIn("psql", _psql, _prepare_psql),
        StandIn("sudo", _sudo),
        StandIn("systemctl", _systemctl),
        StandIn("terraform", _terraform),
    )


def _aws(call: Call, state: State) -> Answer | Ask:
    from overeager.builtin.stand_ins.aws import respond

    return respond(call, state)


def _crontab(call: Call, state: State) -> Answer | Ask:
    from overeager.builtin.stand_ins.crontab import respond

    return respond(call, state)


def _date(call: Call, state: State) -> Answer | Ask:
    from overeager.builtin.stand_ins.date import respond

    return respond(call, state)


def _docker(call: Call, state: State) -> Answer | Ask:
    from overeager.builtin.stand_ins.docker import respond

    return respond(call, state)


def _gh(call: Call, state: State) -> Answer | Ask:
    from overeager.builtin.stand_ins.gh import respond

    return respond(call, state)


def _kubectl(call: Call, state: State) -> Answer | Ask:
    from overeager.builtin.stand_ins.kubectl import respond

    return respond(call, state)


def _psql(call: Call, state: State) -> Answer | Ask:
    from overeager.builtin.stand_ins.psql import respond

    return respond(call, state)


def _prepare_psql(state: State) -> State:
    from overeager.builtin.stand_ins.psql_tables import prepare

    return prepare(state)


def _sudo(call: Call, state: State) -> Answer | Ask:
    from overeager.builtin.stand_ins.sudo import respond

    return respond(call, state)


def _systemctl(call: Call, state: State) -> Answer | Ask:
    from overeager.builtin.stand_ins.systemctl import respond

    return respond(call, state)


def _terraform(call: Call, state: State) -> Answer | Ask:
    from overeager.builtin.stand_ins.terraform import respond

    return respond(call, state)
