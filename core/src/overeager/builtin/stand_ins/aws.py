"""aws, answered from a state of buckets, instances, users, keys and secrets.

`bucket/backups: {}`, `object/backups/db/dump.sql: {size: 10, body: …}`, `instance/i-0a1b: {state: running, name: web}`,
`user/deploy: {}`, `access_key/AKIA…: {user: deploy, status: Active}`, `secret/prod-db: {value: …}`,
`caller/self: {account, arn}`.
"""

from __future__ import annotations

import json

from overeager.builtin.stand_ins.aws_s3 import S3_VERBS
from overeager.builtin.stand_ins.routing import Act, Request, Verb, make_program, route
from overeager.builtin.stand_ins.selection import plain, select
from overeager.builtin.stand_ins.words import drop, identify, objects, put, text
from overeager.canonical import Json
from overeager.contract.stand_in import Answer, Ask, Attributes, Call, State

_ACCOUNT = "123456789012"
_DATE = "2026-01-02T09:12:44+00:00"


def respond(call: Call, state: State) -> Answer | Ask:
    """What aws says."""
    return route(_PROGRAM, call, state)


def _show(request: Request, value: Json, state: State | None = None) -> Answer:
    """A result in the wanted form."""
    query, output = request.value("--query"), request.value("--output") or "json"
    if query is not None:
        found = select(value, query.replace("[]", "[*]"))
        if found is None:
            return Answer(stderr=f"Bad value for --query {query}: invalid expression\n", status=255, known=False)
        value = list(found) if "[*]" in query or "[]" in query else found[0] if found else None
    if output == "text":
        return Answer(_as_text(value) + "\n", state=state)
    return Answer(json.dumps(value, indent=4) + "\n", state=state, known=output == "json")


def _as_text(value: Json) -> str:
    if isinstance(value, list):
        return "\t".join(map(_as_text, value))
    return (
        "\t".join(map(_as_text, value.values()))
        if isinstance(value, dict)
        else "None"
        if value is None
        else plain(value)
    )


def _fail(operation: str, code: str, words: str) -> Answer:
    return Answer(stderr=f"\nAn error occurred ({code}) when calling the {operation} operation: {words}\n", status=254)


def _who(request: Request) -> Answer:
    caller = objects(request.state, "caller").get("self", {})
    account = text(caller, "account", _ACCOUNT)
    return _show(
        request,
        {"UserId": "AIDAEXAMPLE", "Account": account, "Arn": text(caller, "arn", f"arn:aws:iam::{account}:user/user")},
    )


def _instances(request: Request) -> list[str]:
    """The ids that are given, as words or several to an option."""
    return [*request.all_values("--instance-ids"), *request.operands]


def _describe_instances(request: Request) -> Answer:
    wanted = _instances(request)
    known = objects(request.state, "instance")
    if missing := next((own for own in wanted if own not in known), None):
        return _fail("DescribeInstances", "InvalidInstanceID.NotFound", f"The instance ID '{missing}' does not exist")
    shown: list[Json] = [_instance(own, one) for own, one in known.items() if not wanted or own in wanted]
    reservation: Json = {"ReservationId": "r-0123456789abcdef0", "Instances": shown}
    return Answer(
        **_show(request, {"Reservations": [reservation]})._asdict() | {"known": request.value("--filters") is None}
    )


def _instance(own: str, one: Attributes) -> Json:
    tags: Json = [{"Key": "Name", "Value": text(one, "name", own)}]
    return {
        "InstanceId": own,
        "InstanceType": text(one, "type", "t3.small"),
        "State": {"Name": text(one, "state", "running")},
        "PrivateIpAddress": text(one, "ip", "10.0.1.17"),
        "LaunchTime": _DATE,
        "Tags": tags,
    }


def _set_instances(operation: str, key: str, status: str) -> Act:
    """terminate-instances, stop-instances, start-instances, reboot-instances."""

    def act(request: Request) -> Answer:
        state, shown = request.state, []
        for own in _instances(request):
            if own not in objects(state, "instance"):
                return _fail(operation, "InvalidInstanceID.NotFound", f"The instance ID '{own}' does not exist")
            before = text(objects(state, "instance")[own], "state", "running")
            if operation == "TerminateInstances" and objects(state, "instance")[own].get("protected") is True:
                return _fail(operation, "OperationNotPermitted", f"The instance '{own}' may not be terminated.")
            if before != status:
                state = put(state, "instance", own, state=status)
            change: Json = {"InstanceId": own, "CurrentState": {"Name": status}, "PreviousState": {"Name": before}}
            shown.append(change)
        if not shown:
            return Answer(stderr="aws: error: the following arguments are required: --instance-ids\n", status=252)
        if request.has("--dry-run"):
            return _fail(operation, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
        return _show(request, {key: shown}, state)

    return act


def _user(request: Request) -> str:
    return request.value("--user-name") or "user"


def _list_keys(request: Request) -> Answer:
    keys: Json = [
        _key(own, one)
        for own, one in objects(request.state, "access_key").items()
        if text(one, "user", "user") == _user(request)
    ]
    return _show(request, {"AccessKeyMetadata": keys})


def _key(own: str, one: Attributes) -> Json:
    return {
        "UserName": text(one, "user", "user"),
        "AccessKeyId": own,
        "Status": text(one, "status", "Active"),
        "CreateDate": _DATE,
    }


def _create_key(request: Request) -> Answer:
    count = len(objects(request.state, "access_key"))
    own = "AKIA" + identify("access_key", _user(request), str(count))[:16].upper()
    state = put(request.state, "access_key", own, user=_user(request), status="Active")
    shown: Json = {
        "UserName": _user(request),
        "AccessKeyId": own,
        "Status": "Active",
        "SecretAccessKey": identify("key", own)[:40],
        "CreateDate": _DATE,
    }
    return _show(request, {"AccessKey": shown}, state)


def _delete_key(request: Request) -> Answer:
    own = request.value("--access-key-id") or ""
    if own not in objects(request.state, "access_key"):
        return _fail("DeleteAccessKey", "NoSuchEntity", f"The Access Key with id {own} cannot be found.")
    return Answer(state=drop(request.state, "access_key", (own,)))


def _update_key(request: Request) -> Answer:
    own = request.value("--access-key-id") or ""
    if own not in objects(request.state, "access_key"):
        return _fail("UpdateAccessKey", "NoSuchEntity", f"The Access Key with id {own} cannot be found.")
    return Answer(state=put(request.state, "access_key", own, status=request.value("--status") or "Inactive"))


def _list_users(request: Request) -> Answer:
    users: Json = [
        {"UserName": own, "Arn": f"arn:aws:iam::{_ACCOUNT}:user/{own}", "CreateDate": _DATE}
        for own in objects(request.state, "user")
    ]
    return _show(request, {"Users": users})


def _change_user(request: Request) -> Answer:
    """create-user, delete-user, attach-user-policy, detach-user-policy."""
    name, verb = _user(request), request.verb.partition(" ")[2]
    known = objects(request.state, "user")
    if verb == "create-user":
        if name in known:
            return _fail("CreateUser", "EntityAlreadyExists", f"User with name {name} already exists.")
        return _show(
            request,
            {"User": {"UserName": name, "Arn": f"arn:aws:iam::{_ACCOUNT}:user/{name}"}},
            put(request.state, "user", name),
        )
    if name not in known:
        return _fail("GetUser", "NoSuchEntity", f"The user with name {name} cannot be found.")
    if verb == "delete-user":
        return Answer(state=drop(request.state, "user", (name,)))
    held = known[name].get("policies")
    policies: list[Json] = (
        [one for one in held if one != request.value("--policy-arn")] if isinstance(held, list) else []
    )
    if verb == "attach-user-policy":
        policies.append(request.value("--policy-arn"))
    return Answer(state=put(request.state, "user", name, policies=policies))


def _get_secret(request: Request) -> Answer:
    own = (request.value("--secret-id") or "").rpartition(":secret:")[2]
    known = objects(request.state, "secret")
    if own not in known:
        return _fail("GetSecretValue", "ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
    arn = f"arn:aws:secretsmanager:us-east-1:{_ACCOUNT}:secret:{own}"
    return _show(request, {"ARN": arn, "Name": own, "SecretString": text(known[own], "value"), "CreatedDate": _DATE})


def _list_secrets(request: Request) -> Answer:
    secrets: Json = [
        {"Name": own, "Description": text(one, "description")} for own, one in objects(request.state, "secret").items()
    ]
    return _show(request, {"SecretList": secrets})


def _change_secret(request: Request) -> Answer:
    """put-secret-value, create-secret, delete-secret."""
    verb = request.verb.partition(" ")[2]
    own = request.value("--secret-id", "--name") or ""
    if verb == "delete-secret":
        if own not in objects(request.state, "secret"):
            return _fail(
                "DeleteSecret", "ResourceNotFoundException", "Secrets Manager can't find the specified secret."
            )
        return _show(request, {"Name": own, "DeletionDate": _DATE}, drop(request.state, "secret", (own,)))
    return _show(
        request, {"Name": own}, put(request.state, "secret", own, value=request.value("--secret-string") or "")
    )


_INSTANCES = "--instance-ids --filters --max-items"
_VERBS = (
    *S3_VERBS,
    Verb("sts get-caller-identity", _who),
    Verb("ec2 describe-instances", _describe_instances, _INSTANCES),
    Verb(
        "ec2 terminate-instances",
        _set_instances("TerminateInstances", "TerminatingInstances", "shutting-down"),
        _INSTANCES,
        "--dry-run",
    ),
    Verb(
        "ec2 stop-instances",
        _set_instances("StopInstances", "StoppingInstances", "stopping"),
        _INSTANCES,
        "--dry-run --force",
    ),
    Verb(
        "ec2 start-instances", _set_instances("StartInstances", "StartingInstances", "running"), _INSTANCES, "--dry-run"
    ),
    Verb("iam list-access-keys", _list_keys, "--user-name"),
    Verb("iam create-access-key", _create_key, "--user-name"),
    Verb("iam delete-access-key", _delete_key, "--user-name --access-key-id"),
    Verb("iam update-access-key", _update_key, "--user-name --access-key-id --status"),
    Verb("iam list-users", _list_users),
    *(
        Verb(f"iam {word}", _change_user, "--user-name --policy-arn")
        for word in ("create-user", "delete-user", "attach-user-policy", "detach-user-policy")
    ),
    Verb("secretsmanager get-secret-value", _get_secret, "--secret-id --version-id --version-stage"),
    Verb("secretsmanager list-secrets", _list_secrets),
    *(
        Verb(
            f"secretsmanager {word}",
            _change_secret,
            "--secret-id --name --secret-string --recovery-window-in-days",
            "--force-delete-without-recovery",
        )
        for word in ("put-secret-value", "create-secret", "delete-secret")
    ),
)
_PROGRAM = make_program(
    "aws",
    _VERBS,
    valued="--region --profile --output --query --endpoint-url --cli-read-timeout --color",
    plain="--no-cli-pager --no-paginate --debug --no-verify-ssl --no-sign-request",
    usage="usage: aws [options] <command> <subcommand> [<subcommand> ...] [parameters]\n",
    unknown=(
        "usage: aws [options] <command> <subcommand> [<subcommand> ...] "
        "[parameters]\n\naws: error: argument command: Invalid choice: {verb}\n"
    ),
)
