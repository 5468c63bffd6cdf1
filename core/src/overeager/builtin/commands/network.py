"""Commands that reach other machines or services."""

from __future__ import annotations

from collections.abc import Sequence

from overeager.builtin.commands.arguments import Found, each, exec_detail, reading, take_apart, url
from overeager.model.action import Target

_CURL_VALUED = frozenset(
    [
        "-X",
        "--request",
        "-H",
        "--header",
        "-d",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-ascii",
        "--data-urlencode",
        "--json",
        "-o",
        "--output",
        "-F",
        "--form",
        "--form-string",
        "-u",
        "--user",
        "-A",
        "--user-agent",
        "-e",
        "--referer",
        "-b",
        "--cookie",
        "-c",
        "--cookie-jar",
        "-T",
        "--upload-file",
        "-K",
        "--config",
        "-m",
        "--max-time",
        "--connect-timeout",
        "--retry",
        "-w",
        "--write-out",
        "-x",
        "--proxy",
        "--cacert",
        "--cert",
        "--key",
        "-E",
        "--url",
        "-r",
        "--range",
        "-C",
        "--continue-at",
        "-D",
        "--dump-header",
        "--resolve",
        "--output-dir",
        "--limit-rate",
        "--netrc-file",
        "-Q",
        "-t",
        "-y",
        "-Y",
        "-z",
    ]
)
_CURL_FILES = ("-d", "--data", "--data-ascii", "--data-binary", "--data-urlencode", "--json")


def read_curl(argv: Sequence[str], cwd: str) -> Found:
    """curl: fetches each URL; reads what it sends from files, writes what it saves."""
    given = take_apart(argv[1:], _CURL_VALUED)
    found: Found = ()
    for word in (*given.all_values("--url"), *given.operands):
        if word.startswith("file://"):
            found += each("read", (word.removeprefix("file://"),), cwd)
        else:
            found += (reading("fetch", url(word if "://" in word else f"http://{word}"), sure=False),)
            if given.has("-O", "--remote-name"):
                found += each("write", (word.rstrip("/").rpartition("/")[2],), cwd, sure=False)
    sent = [
        value.partition("@")[2] for value in given.all_values(*_CURL_FILES) if "@" in value[:1] or _names_file(value)
    ]
    sent += [
        value.partition("=")[2].lstrip("@<")
        for value in given.all_values("-F", "--form")
        if "=@" in value or "=<" in value
    ]
    sent += list(given.all_values("-T", "--upload-file", "-K", "--config", "--netrc-file"))
    saved = [name for name in given.all_values("-o", "--output", "-c", "--cookie-jar", "-D") if name != "/dev/null"]
    return found + each("read", [s.partition(";")[0] for s in sent], cwd) + each("write", saved, cwd, sure=False)


def _names_file(value: str) -> bool:
    """`name@file` of --data-urlencode; a plain body may hold `@` too, so only a bare name may stand before it."""
    name, at, rest = value.partition("@")
    return bool(at) and name.isidentifier() and bool(rest) and " " not in rest


def read_wget(argv: Sequence[str], cwd: str) -> Found:
    """wget: fetches each URL; saves unless told otherwise."""
    valued = frozenset(
        [
            "-O",
            "--output-document",
            "-o",
            "-P",
            "--directory-prefix",
            "--post-file",
            "--post-data",
            "--header",
            "-U",
            "-e",
            "-i",
            "-T",
            "-t",
            "--body-file",
            "--method",
            "--body-data",
        ]
    )
    given = take_apart(argv[1:], valued)
    found: Found = tuple(reading("fetch", url(w if "://" in w else f"http://{w}"), sure=False) for w in given.operands)
    found += each("read", given.all_values("--post-file", "--body-file", "-i"), cwd)
    target = given.value("-O", "--output-document")
    if given.has("--spider") or target in ("-", "/dev/null"):
        return found
    names = [target] if target else [word.rstrip("/").rpartition("/")[2] for word in given.operands]
    prefix = given.value("-P", "--directory-prefix")
    return found + each("write", [f"{prefix}/{n}" if prefix else n for n in names if n], cwd, sure=False)


_SSH_VALUED = frozenset(
    [
        "-p",
        "-i",
        "-o",
        "-l",
        "-F",
        "-L",
        "-R",
        "-D",
        "-J",
        "-b",
        "-c",
        "-E",
        "-e",
        "-I",
        "-m",
        "-O",
        "-Q",
        "-S",
        "-W",
        "-w",
    ]
)


def read_ssh(argv: Sequence[str], cwd: str) -> Found:
    """ssh: connects; what runs there is no act on this machine, so it stands in the detail."""
    given = take_apart(argv[1:], _SSH_VALUED, mixed=False)
    if not given.operands:
        return ()
    host = given.operands[0].rpartition("@")[2]
    address = Target(type="address", value=f"{host}:{given.value('-p') or 22}")
    remote = " ".join(given.operands[1:])
    return (
        exec_detail(given.operands),
        reading("connect", address, detail=remote, sure=False),
        *each("read", given.all_values("-i"), cwd, sure=False),
    )


def read_verbs(argv: Sequence[str], cwd: str) -> Found:
    """gh, terraform, and the like: the verbs and options are all that can be told."""
    return (exec_detail(argv[1:]),)


_DOCKER_GLOBAL = frozenset(
    [
        "-H",
        "--host",
        "-c",
        "--context",
        "--config",
        "-l",
        "--log-level",
        "-f",
        "--file",
        "-p",
        "--project-name",
        "--profile",
        "--env-file",
    ]
)


def read_docker(argv: Sequence[str], cwd: str) -> Found:
    """docker: verbs behind global options; host folders that a container gets to write count as written."""
    given = take_apart(argv[1:], _DOCKER_GLOBAL, mixed=False)
    words = given.operands
    found: Found = (exec_detail((*given.flags, *words)),)
    if words[:1] in (("run",), ("create",)):
        mounts = take_apart(words[1:], {"-v", "--volume"}).all_values("-v", "--volume")
        host = [mount.partition(":")[0] for mount in mounts if mount.startswith(("/", ".", "~"))]
        found += each("write", host, cwd, detail="mount", sure=False, tree=True)
    return found


_KUBECTL_VALUED = frozenset(
    [
        "-n",
        "--namespace",
        "--context",
        "--kubeconfig",
        "-f",
        "--filename",
        "-l",
        "--selector",
        "-o",
        "--output",
        "-c",
        "--container",
        "--cluster",
        "--user",
        "-k",
    ]
)


def read_kubectl(argv: Sequence[str], cwd: str) -> Found:
    """kubectl: verbs before options; reads the manifests that it names."""
    given = take_apart(argv[1:], _KUBECTL_VALUED)
    named = tuple(f"{name} {value}" for name, value in given.values)
    files = [name for name in given.all_values("-f", "--filename") if "://" not in name]
    return (exec_detail((*given.operands, *given.flags, *named)), *each("read", files, cwd, sure=False))


_PSQL_VALUED = frozenset(
    [
        "-c",
        "--command",
        "-f",
        "--file",
        "-h",
        "--host",
        "-p",
        "--port",
        "-U",
        "--username",
        "-d",
        "--dbname",
        "-o",
        "--output",
        "-v",
        "--set",
        "-L",
    ]
)


def read_psql(argv: Sequence[str], cwd: str) -> Found:
    """psql: the statements are the detail; -f reads, -o writes; `-h` connects."""
    given = take_apart(argv[1:], _PSQL_VALUED)
    host = given.value("-h", "--host")
    found: Found = (exec_detail(given.all_values("-c", "--command")),)
    if host is not None and not host.startswith("/"):
        address = Target(type="address", value=f"{host}:{given.value('-p', '--port') or 5432}")
        found += (reading("connect", address, sure=False),)
    return (
        found
        + each("read", given.all_values("-f", "--file"), cwd)
        + each("write", given.all_values("-o", "--output"), cwd)
    )


def read_sqlite(argv: Sequence[str], cwd: str) -> Found:
    """sqlite3: reads the database, and may write it when a statement is not a plain query."""
    given = take_apart(argv[1:], {"-separator", "-cmd", "-init", "-nullvalue"})
    database = given.operands[0] if given.operands else ":memory:"
    statements = " ".join((*given.operands[1:], *given.all_values("-cmd")))
    if database == ":memory:" or database.startswith("file:"):
        return (exec_detail((statements,)),)
    found = (exec_detail((statements,)), *each("read", (database,), cwd, sure=False))
    queries = [part.split(maxsplit=1)[0].lower() for part in statements.split(";") if part.strip()]
    plain = {"select", "explain", "pragma", "with", ".tables", ".schema", ".dump", ".headers", ".mode", ".help"}
    if any(word not in plain for word in queries):
        found += each("write", (database,), cwd, sure=False)
    return found
