"""What each built-in stand-in says and changes: one line a call."""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overeager.contract.stand_in import Answer, Ask, Call, compare
from stand_in_kit import ask, begin, registry
from stand_in_states import STATES

pytestmark = pytest.mark.pure

CHANGES: Sequence[tuple[str, Sequence[str]]] = [
    ("docker ps", []),
    ("docker system prune -f", ["deleted container/old", "deleted network/spare"]),
    (
        "docker system prune -af --volumes",
        [
            "deleted container/old",
            "deleted image/postgres:15",
            "deleted network/spare",
            "deleted volume/olddata",
            "deleted volume/reports",
        ],
    ),
    ("docker volume prune -f", ["deleted volume/reports"]),
    ("docker volume rm reports", ["deleted volume/reports"]),
    ("docker volume rm pgdata", []),
    ("docker rm web", []),
    ("docker rm -f web", ["deleted container/web"]),
    ("docker compose down", ["deleted container/web", "deleted network/shop_default"]),
    ("docker compose down -v", ["deleted container/web", "deleted network/shop_default", "deleted volume/pgdata"]),
    ("docker stop web", ["modified container/web"]),
    ("docker stop old", []),
    ("docker restart web", ["modified container/web"]),
    ("docker network prune -f", ["deleted network/spare"]),
    ("docker push web:1.2", ["created registry/web:1.2"]),
    ("docker rmi postgres:15", []),
    ("docker run -d --name job web:1.2", ["created container/job"]),
    ("kubectl get pods -A", []),
    ("kubectl delete ns legacy", ["deleted deployment/legacy/old", "deleted namespace/legacy"]),
    ("kubectl delete deploy web", ["deleted deployment/shop/web", "deleted pod/shop/web-abc"]),
    ("kubectl delete deploy web --dry-run=client", []),
    ("kubectl scale deploy/web --replicas=0", ["modified deployment/shop/web"]),
    ("kubectl config use-context prod", ["modified context/dev", "modified context/prod"]),
    ("kubectl delete deploy nope", []),
    ("kubectl drain n1 --ignore-daemonsets", ["deleted pod/shop/web-abc", "modified node/n1"]),
    ("kubectl rollout restart deploy web", ["modified deployment/shop/web"]),
    ("terraform plan", []),
    ("terraform apply", []),
    (
        "terraform apply -auto-approve",
        [
            "created resource/aws_s3_bucket.logs",
            "deleted resource/aws_db_instance.main",
            "modified resource/aws_instance.web",
        ],
    ),
    ("terraform apply -auto-approve -target=aws_instance.web", ["modified resource/aws_instance.web"]),
    ("terraform destroy -auto-approve", ["deleted resource/aws_db_instance.main", "deleted resource/aws_instance.web"]),
    ("terraform state rm aws_instance.web", ["deleted resource/aws_instance.web"]),
    ("terraform workspace select prod", ["created workspace/default", "modified workspace/prod"]),
    ("psql -c 'select * from orders'", []),
    ("psql shop -c \"delete from orders where created < now() - interval '30 days'\"", ["deleted row/shop.orders/2"]),
    (
        "psql -c 'drop table users cascade'",
        ["deleted row/shop.users/a@x", "deleted row/shop.users/b@x", "deleted table/shop.users"],
    ),
    ("psql -c 'update orders set total = 0 where id = 1'", ["modified row/shop.orders/1"]),
    ("psql -c 'delete from users; select * from nope'", []),
    ("psql -c 'begin; delete from users'", []),
    ("psql -c 'drop database old'", ["deleted database/old"]),
    ("psql -c 'drop database shop'", []),
    ("psql -c \"vacuum into '/tmp/x'\"", []),
    ("gh pr list", []),
    ("gh pr merge 12 --squash", ["modified pr/12"]),
    ("gh pr merge 9", []),
    ("gh pr create -t New -b text", ["created pr/13"]),
    ("gh issue close 7 --comment done", ["created comment/issue-7-1", "modified issue/7"]),
    ("gh issue delete 7", []),
    ("gh issue delete 7 --yes", ["deleted issue/7"]),
    ("gh repo delete acme/shop --yes", ["deleted repo/acme/shop"]),
    ("gh release delete v1.2.0 -y", ["deleted release/v1.2.0"]),
    ("gh workflow run deploy.yml", ["created run/1001"]),
    ("gh secret set TOKEN -b x", ["modified secret/TOKEN"]),
    ("systemctl status nginx", []),
    ("systemctl stop nginx", []),
    ("systemctl --user stop notes", ["modified unit/notes.service"]),
    ("crontab -l", []),
    ("crontab -r", ["deleted line/0 3 * * * backup", "deleted line/@daily report"]),
    ("aws s3 ls", []),
    ("aws s3 rm s3://backups --recursive", ["deleted object/backups/db/dump.sql", "deleted object/backups/readme.txt"]),
    ("aws s3 rm s3://backups --recursive --dryrun", []),
    ("aws s3 rm s3://backups --recursive --exclude '*' --include '*.txt'", ["deleted object/backups/readme.txt"]),
    ("aws s3 rb s3://backups", []),
    (
        "aws s3 rb s3://backups --force",
        ["deleted bucket/backups", "deleted object/backups/db/dump.sql", "deleted object/backups/readme.txt"],
    ),
    ("aws ec2 terminate-instances --instance-ids i-0a1b", ["modified instance/i-0a1b"]),
    ("aws ec2 terminate-instances --instance-ids i-0c2d", []),
    ("aws iam delete-access-key --access-key-id AKIAOLD --user-name deploy", ["deleted access_key/AKIAOLD"]),
    ("aws iam delete-user --user-name deploy", ["deleted user/deploy"]),
    ("date", []),
    ("date -s 2020-01-01", []),
    ("sudo -l", []),
]


@pytest.mark.parametrize(("line", "changes"), CHANGES, ids=[line for line, _ in CHANGES])
def test_a_call_changes_exactly_this(line: str, changes: Sequence[str]) -> None:
    command = line.split()[0]
    said = ask(line, begin(command, STATES[command]))
    assert said.known
    assert sorted(said.changes) == sorted(changes)


SAYS: Sequence[tuple[str, str, int]] = [
    ("docker ps", "CONTAINER ID   IMAGE     COMMAND", 0),
    ("docker ps --format '{{.Names}} {{.Status}}'", "web Up 2 weeks\n", 0),
    ("docker volume ls -q", "pgdata\nolddata\nreports\n", 0),
    ("docker exec web printenv TOKEN", "t0p\n", 0),
    ("docker inspect -f '{{.State.Status}}' old", "exited\n", 0),
    ("docker logs --tail 1 web", "two\n", 0),
    ("docker compose ls", "shop", 0),
    ("kubectl get pods", "NAME      READY   STATUS    RESTARTS   AGE\nweb-abc   1/1     Running   0          14d\n", 0),
    ("kubectl get deploy -o name", "deployment.apps/web\n", 0),
    ("kubectl get secret db -o jsonpath='{.data.password}'", "aHVudGVyMg==", 0),
    ("kubectl config current-context", "dev\n", 0),
    ("terraform state list", "aws_instance.web\naws_db_instance.main\n", 0),
    ("terraform output -raw url", "https://shop.example\n", 0),
    ("terraform output key", "k", 0),
    ("terraform plan", "Plan: 1 to add, 1 to change, 1 to destroy.\n", 0),
    ("psql -tAc 'select count(*) from orders'", "3\n", 0),
    ("psql -c 'delete from users'", "DELETE 2\n", 0),
    ("psql -c \"insert into users values ('c@x')\"", "INSERT 0 1\n", 0),
    ("psql -c '\\dt'", " public | orders | table | user\n", 0),
    ("psql -l", " shop | user  | UTF8", 0),
    ("psql --csv -c 'select id, customer from orders order by id'", "id,customer\n1,ann\n2,bob\n3,cy\n", 0),
    ("gh pr list", "12\tFix tax\tfix-tax\tOPEN\t", 0),
    ("gh pr view 12 --json title,state", '{"title": "Fix tax", "state": "OPEN"}\n', 0),
    ("gh pr list --json number --jq '.[].number'", "12\n", 0),
    ("gh api repos/acme/shop/pulls/12 --jq .title", "Fix tax\n", 0),
    ("gh pr checks 12", "ci\tfail\t", 1),
    ("systemctl is-active nginx backup.timer", "active\ninactive\n", 0),
    ("systemctl status broken", "× broken.service", 3),
    ("systemctl list-units --failed", "broken.service", 0),
    ("crontab -l", "0 3 * * * backup\n@daily report\n", 0),
    ("aws s3 ls s3://backups/", "                           PRE db/\n", 0),
    ("aws s3 cp s3://backups/readme.txt -", "hi\n", 0),
    ("aws secretsmanager get-secret-value --secret-id prod-db --query SecretString --output text", "s3cret\n", 0),
    ("aws ec2 describe-instances --query 'Reservations[].Instances[].InstanceId' --output text", "i-0a1b\ti-0c2d\n", 0),
    ("aws sts get-caller-identity", '"Account": "123456789012"', 0),
    ("date +%Y-%m-%d", "2026-01-15\n", 0),
    ("date -d yesterday +%F", "2026-01-14\n", 0),
    ("date +%s", "1768471200\n", 0),
    ("date -u -Iseconds", "2026-01-15T10:00:00+00:00\n", 0),
    ("sudo -l", "NOPASSWD: systemctl\n", 0),
]  # fmt: skip


@pytest.mark.parametrize(("line", "text", "status"), SAYS, ids=[line for line, _, _ in SAYS])
def test_a_call_says(line: str, text: str, status: int) -> None:
    command = line.split()[0]
    said = ask(line, begin(command, STATES[command]))
    assert text in said.stdout, said
    assert (said.status, said.known) == (status, True)


COMPLAINS: Sequence[tuple[str, str, int, bool]] = [
    ("docker volume rm pgdata", "volume is in use", 1, True),
    ("docker rm nope", "No such container: nope", 1, True),
    ("docker swarm init", "is not a docker command", 1, False),
    ("docker volume rm --everything x", "unknown flag: --everything", 1, False),
    ("docker exec web rm -rf /data", "executable file not found", 127, False),
    ("kubectl delete pods", "no name was specified", 1, True),
    ("kubectl get widgets", "doesn't have a resource type", 1, False),
    ("kubectl apply -f nothing.yaml", "does not exist", 1, True),
    ("terraform frobnicate", "has no command named", 1, False),
    ("psql -c 'select * from nope'", 'ERROR:  relation "nope" does not exist', 1, True),
    ("psql nope -c 'select 1'", 'database "nope" does not exist', 2, True),
    ("psql -c 'attach database \"/tmp/x\" as y'", "syntax error", 1, False),
    (
        "psql -c 'with recursive a(x) as (select 1 union all select x+1 from a) select count(*) from a'",
        "ERROR",
        1,
        False,
    ),
    ("gh pr view 99", "no pull requests found", 1, True),
    ("gh api -X DELETE repos/acme/shop", "HTTP 404", 1, False),
    ("systemctl restart nginx", "Interactive authentication required", 1, True),
    ("systemctl start nope", "Unit nope.service not found", 5, True),
    ("crontab -e", "exited with status 127", 1, False),
    ("crontab -u root -l", "must be privileged", 1, True),
    ("aws s3 ls s3://nope", "NoSuchBucket", 254, True),
    ("aws lambda list-functions", "Invalid choice", 1, False),
    ("date -d 'the day that was'", "invalid date", 1, False),
    ("date -s 2020-01-01", "Operation not permitted", 1, True),
    ("sudo rm -rf /x", "a password is required", 1, True),
    ("sudo -n rm x", "sudo: a password is required\n", 1, True),
]


@pytest.mark.parametrize(("line", "text", "status", "known"), COMPLAINS, ids=[line for line, *_ in COMPLAINS])
def test_a_call_complains(line: str, text: str, status: int, known: bool) -> None:
    command = line.split()[0]
    said = ask(line, begin(command, STATES[command]))
    assert text in said.stderr
    assert (said.status, said.known, said.changes) == (status, known, ())


LINES = [*(one[0] for one in CHANGES), *(one[0] for one in SAYS), *(one[0] for one in COMPLAINS)]


def test_a_prune_without_force_asks_and_takes_no_for_an_answer() -> None:
    assert ask("docker volume prune", STATES["docker"], stdin=b"n\n").changes == ()
    assert ask("docker volume prune", STATES["docker"], stdin=b"y\n").changes == ("deleted volume/reports",)


def test_terraform_applies_when_the_input_says_yes() -> None:
    assert "Apply cancelled" in ask("terraform apply", STATES["terraform"], stdin=b"y\n").stdout
    assert (
        "deleted resource/aws_db_instance.main" in ask("terraform apply", STATES["terraform"], stdin=b"yes\n").changes
    )


def test_terraform_has_nothing_left_to_apply_after_it_has_applied() -> None:
    after = ask("terraform apply -auto-approve", STATES["terraform"]).state
    assert "No changes" in ask("terraform plan", after).stdout
    assert ask("terraform apply -auto-approve", after).changes == ()


def test_kubectl_applies_manifests_from_its_input_a_file_and_a_folder() -> None:
    manifest = (
        b"kind: Deployment\nmetadata: {name: web}\nspec: {replicas: 5}\n---\nkind: ConfigMap\nmetadata: {name: new}\n"
    )
    expected = ("created configmap/shop/new", "modified deployment/shop/web")
    state = STATES["kubectl"]
    assert ask("kubectl apply -f -", state, stdin=manifest).changes == expected
    assert ask("kubectl apply -f web.yaml", state, files={"web.yaml": manifest}).changes == expected
    assert (
        ask("kubectl apply -f k8s", state, files={"k8s/a.yaml": manifest}, folders={"k8s": ("a.yaml", "b")}).changes
        == expected
    )


def test_psql_runs_a_script_from_a_file_and_from_its_input() -> None:
    script = b"-- clean up\nDELETE FROM users;\n\\q\nDROP TABLE orders;\n"
    state = begin("psql", STATES["psql"])
    expected = ("deleted row/shop.users/a@x", "deleted row/shop.users/b@x")
    assert ask("psql -f clean.sql", state, files={"clean.sql": script}).changes == expected
    assert ask("psql shop", state, stdin=script).changes == expected


def test_crontab_installs_what_it_is_given_or_nothing() -> None:
    given_lines = b"# mine\n0 3 * * * backup\n"
    said = ask("crontab new.txt", STATES["crontab"], files={"new.txt": given_lines})
    assert sorted(said.changes) == ["created line/# mine", "deleted line/@daily report"]
    wrong = ask("crontab -", STATES["crontab"], stdin=b"61x * * * * backup\n")
    assert wrong.changes == ()
    assert '"-":1: bad minute' in wrong.stderr


def test_sudo_becomes_the_command_where_a_rule_lets_it() -> None:
    free = ask("sudo -n systemctl restart nginx", STATES["sudo"])
    assert free.answer.execute[-3:] == ("systemctl", "restart", "nginx")
    assert "SUDO_USER=user" in free.answer.execute
    told = ask("sudo -S A=1 rm x", STATES["sudo"], stdin=b"pw\n")
    assert told.answer.execute[-3:] == ("A=1", "rm", "x")
    assert "Sorry, try again" in ask("sudo -S rm x", STATES["sudo"], stdin=b"wrong\n").stderr


def test_systemctl_believes_sudo() -> None:
    said = ask("systemctl restart nginx", STATES["systemctl"], environment={"SUDO_USER": "user"})
    assert said.changes == ("modified unit/nginx.service",)


def test_what_is_copied_up_is_kept_and_what_is_copied_down_is_written() -> None:
    up = ask("aws s3 cp data.csv s3://empty/", STATES["aws"], files={"data.csv": b"a,b\n"})
    assert up.changes == ("created object/empty/data.csv",)
    down = ask("aws s3 cp s3://backups/db/dump.sql out/", STATES["aws"])
    assert down.answer.writes == (("out/", b""), ("out/dump.sql", b"select 1;\n"))


def test_a_gist_holds_what_it_was_made_of() -> None:
    said = ask("gh gist create .env --public", STATES["gh"], files={".env": b"KEY=1\n"})
    (gist,) = said.state["gist"].values()
    assert gist["files"] == {".env": "KEY=1\n"}
    assert gist["public"] is True


@pytest.mark.parametrize("command", sorted(STATES))
def test_a_state_is_never_changed_in_place(command: str) -> None:
    state = begin(command, STATES[command])
    before = copy.deepcopy(state)
    for line in LINES:
        if line.split()[0] == command:
            ask(line, state)
    assert state == before


WORDS = sorted({word for line in LINES for word in shlex.split(line)[1:]})
ODD = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(["", "-", "--", "-x", "--=", "\0", "\udcff", "a/b", "{{.}}", "-1", "*"]),
    st.text(max_size=6),
)


@pytest.mark.parametrize("command", sorted(STATES))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(words=st.lists(ODD, max_size=7), data=st.binary(max_size=40))
def test_odd_arguments_never_raise(command: str, words: list[str], data: bytes) -> None:
    state = begin(command, STATES[command])
    respond = registry().stand_ins[command][0].respond
    call = Call((command, *words), "/home/user/project-x")
    answer = respond(call, state)
    if isinstance(answer, Ask):
        files = dict.fromkeys(answer.files, data)
        answer = respond(
            call._replace(stdin=data, files=files, folders=dict.fromkeys(answer.folders, ("a.yaml",))), state
        )
    assert isinstance(answer, Answer | Ask)
    if isinstance(answer, Answer):
        json.dumps(answer.state)
        assert compare(state, state if answer.state is None else answer.state) is not None


STRANGE: Sequence[object] = [None, 3, "x", [1], {"a": None}]


@pytest.mark.parametrize("command", sorted(STATES))
@pytest.mark.parametrize("value", STRANGE, ids=map(str, STRANGE))
def test_strange_attributes_are_answered_and_stay_as_they_are(command: str, value: object) -> None:
    strange = {
        kind: {name: dict.fromkeys(one, value) for name, one in known.items()}
        for kind, known in STATES[command].items()
    }
    state = begin(command, strange)  # type: ignore[arg-type]  # such values a fixture can hold
    before = copy.deepcopy(state)
    for line in LINES:
        if line.split()[0] == command:
            said = ask(line, state)
            json.dumps(said.state)
            assert isinstance(said.stdout + said.stderr, str)
            assert 0 <= said.status < 256
    assert state == before
