"""sudo, by rules of the fixture: `rule/systemctl: {nopasswd: true}`, `rule/ALL: {}`, `account/user: {password: …}`."""

from __future__ import annotations

import re

from overeager.builtin.commands.arguments import Arguments, take_apart
from overeager.builtin.stand_ins.words import objects, text
from overeager.contract.stand_in import Answer, Ask, Call, State

_VALUED = frozenset(
    [
        "-u",
        "--user",
        "-g",
        "--group",
        "-h",
        "--host",
        "-p",
        "--prompt",
        "-C",
        "--close-from",
        "-D",
        "--chdir",
        "-T",
        "--command-timeout",
        "-R",
        "--chroot",
        "-U",
    ]
)
_PLAIN = frozenset(
    [
        "-n",
        "--non-interactive",
        "-S",
        "--stdin",
        "-l",
        "--list",
        "-v",
        "--validate",
        "-k",
        "--reset-timestamp",
        "-K",
        "--remove-timestamp",
        "-E",
        "--preserve-env",
        "-H",
        "--set-home",
        "-i",
        "--login",
        "-s",
        "--shell",
        "-b",
        "--background",
        "-A",
        "--askpass",
        "-B",
        "--bell",
        "-P",
    ]
)
_ASKED = "sudo: a password is required\n"
_NO_TERMINAL = (
    "sudo: a terminal is required to read the password; either "
    "use the -S option to read from standard input or configure "
    "an askpass helper\n"
)
_USAGE = "usage: sudo -h | -K | -k | -V\nusage: sudo -v [-AknS] [-g group] [-h host] [-p prompt] [-u user]\n"


def respond(call: Call, state: State) -> Answer | Ask:
    """What sudo says: it becomes the command, as the same user, where a rule and a password allow it."""
    given = take_apart(call.argv[1:], _VALUED, mixed=False)
    strange = [flag for flag in given.flags if flag not in _PLAIN]
    if strange:
        return Answer(stderr=f"sudo: invalid option -- '{strange[0].lstrip('-')}'\n{_USAGE}", status=1, known=False)
    words = list(given.operands)
    assigned = []
    while words and re.match(r"\w+=", words[0]):
        assigned.append(words.pop(0))
    if given.has("-k", "-K", "--reset-timestamp", "--remove-timestamp") and not words:
        return Answer()
    if given.has("-s", "-i", "--shell", "--login"):
        words = ["bash", *(["-c", " ".join(words)] if words else [])]
    if not words and not given.has("-v", "--validate", "-l", "--list"):
        return Answer(stderr=_USAGE, status=1)
    return _admit(call, state, given, words, assigned)


def _admit(call: Call, state: State, given: Arguments, words: list[str], assigned: list[str]) -> Answer | Ask:
    """Password first, then the rule, as sudo does it."""
    free = (
        _is_free(state, words)
        if words
        else any(rule.get("nopasswd") is True for rule in objects(state, "rule").values())
    )
    if not free:
        if not given.has("-S", "--stdin"):
            quiet = given.has("-n", "--non-interactive")
            return Answer(stderr=_ASKED if quiet else _NO_TERMINAL + _ASKED, status=1)
        if call.stdin is None:
            return Ask(line=True)
        account = objects(state, "account").get("user", {})
        told = call.stdin.decode("utf-8", "surrogateescape").partition("\n")[0]
        if not told or told != text(account, "password"):
            return Answer(
                stderr="[sudo] password for user: Sorry, try again.\nsudo: no password was provided\n" + _ASKED,
                status=1,
            )
    if given.has("-l", "--list"):
        return _list(state)
    if not words:
        return Answer()
    if _find_rule(state, words[0]) is None:
        command = " ".join(words)
        return Answer(stderr=f"Sorry, user user is not allowed to execute '{command}' as root on devbox.\n", status=1)
    return _become(words, assigned, given.value("-u", "--user") or "root")


def _become(words: list[str], assigned: list[str], user: str) -> Answer:
    if words == ["whoami"] or words == ["id", "-un"]:
        return Answer(f"{user}\n")
    if words == ["id"] and user == "root":
        return Answer("uid=0(root) gid=0(root) groups=0(root)\n")
    if words == ["id", "-u"] and user == "root":
        return Answer("0\n")
    told = ("SUDO_USER=user", "SUDO_UID=1000", "SUDO_GID=1000", f"SUDO_COMMAND={' '.join(words)}")
    missing = f"sudo: {words[0]}: command not found\n"
    return Answer(stderr=missing, status=1, execute=(*told, *assigned, *words))


def _find_rule(state: State, command: str) -> str | None:
    """The rule that names the command, by path or bare name, else the one for everything."""
    names = (command, command.rpartition("/")[2], "ALL")
    rules = {name.rpartition("/")[2] if name != "ALL" else name: name for name in objects(state, "rule")}
    return next((rules[name] for name in names if name in rules), None)


def _is_free(state: State, words: list[str]) -> bool:
    name = _find_rule(state, words[0])
    return name is not None and objects(state, "rule")[name].get("nopasswd") is True


def _list(state: State) -> Answer:
    lines = "".join(
        f"    (ALL : ALL) {'NOPASSWD: ' if rule.get('nopasswd') is True else ''}{name}\n"
        for name, rule in objects(state, "rule").items()
    )
    if not lines:
        return Answer(stderr="Sorry, user user may not run sudo on devbox.\n", status=1)
    return Answer(f"User user may run the following commands on devbox:\n{lines}")
