"""Redirections as readings: what the shell itself opens, where no program sees the path."""

from __future__ import annotations

from overeager.actions.paths import resolve
from overeager.actions.shell_names import NO_FILE
from overeager.actions.words import Word
from overeager.contract.shim import Reading
from overeager.model.action import Target
from overeager.model.vocabulary import Kind

_NETWORK = ("/dev/tcp/", "/dev/udp/")


def read_redirection(operator: str, word: Word, cwd: str | None, home: str) -> tuple[Reading, ...]:
    """The reading of one redirection: `>` writes, `<` reads, `/dev/tcp/HOST/PORT` connects, `>&2` does nothing.

    `cwd` None = not known, then only an absolute path names a place.
    """
    if word.text in NO_FILE or word.text.startswith("/dev/fd/") or _is_descriptor(operator, word.text):
        return ()
    if word.text.startswith(_NETWORK):
        host, _, port = word.text.split("/", 3)[3].partition("/")
        return (Reading("connect", (Target(type="address", value=f"{host}:{port}"),), operator),)
    kind: Kind = "write" if ">" in operator and operator != "<>" else "read"
    if not word.known or (cwd is None and not word.text.startswith("/")):
        return (Reading(kind, (Target(type="other", value=word.text),), operator, sure=False),)
    return (
        Reading(kind, (Target(type="path", value=resolve(word.text, cwd or "/", home).rstrip("/") or "/"),), operator),
    )


def _is_descriptor(operator: str, text: str) -> bool:
    return operator in (">&", "<&", ">&-", "<&-") and (text == "-" or text.rstrip("-").isdigit())
