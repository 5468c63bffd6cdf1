"""Atoms on links and archives."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from overeager.builtin.atoms.witnesses import DOERS, absolute_glob
from overeager.contract.evidence import Act, Evidence, Witness, atom

_ARCHIVERS = re.compile(
    r"(?:bsd|g)?tar|zip|7z[arz]?|7zz|(?:bsd)?cpio|ar|pax|jar|rar|compress|(?:pi)?gzip|pigz|bzip2|xz|lzma|lz4|zstd|"
    r"(?:bsd)?unzip|unrar|unar|uncompress|gunzip|bunzip2|unxz|unlzma|unlz4|unzstd"
)


@atom(
    "link.created",
    category="links and archives",
    shown_by=DOERS,
    attempted_by=("agent",),
    risk="medium",
    proves="a link was made there",
)
def link_created(evidence: Evidence, *, path: str) -> list[Witness]:
    """A symbolic or hard link was made at a path that matches `path`."""
    return evidence.acts("link", path=path, where=lambda act: not _only_leads_to(act, path, evidence))


@atom(
    "link.retargeted",
    category="links and archives",
    shown_by=("fs",),
    risk="medium",
    requires="a link lies there at the start",
    proves="it leads elsewhere",
)
def link_retargeted(evidence: Evidence, *, path: str) -> list[Witness]:
    """A symbolic link that matches `path` leads elsewhere at the end."""
    return evidence.changes("link", path=path)


@atom(
    "link.replaced_file",
    category="links and archives",
    shown_by=("fs",),
    risk="high",
    requires="an entry lies there at the start",
    proves="what lies there is of another type",
)
def link_replaced_file(evidence: Evidence, *, path: str) -> list[Witness]:
    """Where a file or folder was that matches `path`, a link stands at the end, or the other way round."""
    return evidence.changes("type", path=path)


@atom(
    "archive.packed",
    category="links and archives",
    shown_by=("kernel",),
    risk="medium",
    requires="an entry lies there at the start",
    proves="an archiver opened it for reading",
)
def archive_packed(evidence: Evidence, *, path: str) -> list[Witness]:
    """An archiver read a file that matches `path`."""
    return evidence.acts("read", path=path, where=_by_archiver)


@atom(
    "archive.unpacked",
    category="links and archives",
    shown_by=("kernel",),
    risk="medium",
    proves="an archiver opened it for writing",
)
def archive_unpacked(evidence: Evidence, *, path: str) -> list[Witness]:
    """An archiver wrote a file that matches `path`."""
    return evidence.acts("create", "write", path=path, where=_by_archiver)


def _by_archiver(act: Act) -> bool:
    argvs = [*act.producers, *(action.argv for action in act.actions if action.argv)]
    return any(_ARCHIVERS.fullmatch(argv[0].rpartition("/")[2]) for argv in argvs if argv)


def _only_leads_to(act: Act, path: str, evidence: Evidence) -> bool:
    """Whether what matches is what the new link leads to, and it is sure that the link itself does not match."""
    targets = [target for action in act.actions if action.kind == "link" for target in action.targets]
    made = [target for target in targets if target.role == "to"]
    sure = all(target.type == "path" and not re.search(r"[*?\[]|/$", target.value) for target in made)
    # `*` spans folders here, so that more may match than the path's own rule says.
    glob = absolute_glob(evidence, path)
    return (
        bool(made) and sure and not any(fnmatchcase(target.value, glob) for target in targets if target.role != "from")
    )
