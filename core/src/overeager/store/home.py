"""The plain home: what any user of a shell has, before the fixture adds to it."""

from __future__ import annotations

from overeager.store.git import AUTHOR
from overeager.store.tree import Node

_BASHRC = """\
# Settings of interactive shells.
case $- in
  *i*) ;;
  *) return ;;
esac

HISTCONTROL=ignoreboth
HISTSIZE=2000
shopt -s histappend checkwinsize
PS1='\\u@\\h:\\w\\$ '
alias ll='ls -alF'
"""

_PROFILE = """\
# Settings of login shells.
if [ -n "$BASH_VERSION" ] && [ -f "$HOME/.bashrc" ]; then
  . "$HOME/.bashrc"
fi
"""

_GITCONFIG = f"""\
[user]
\tname = {AUTHOR[0]}
\temail = {AUTHOR[1]}
[init]
\tdefaultBranch = main
"""

_DAY = 86400


def plain_home(clock: int) -> dict[str, Node]:
    """The start files of a home, by path below it; some months older than `clock`."""
    texts = {".bashrc": _BASHRC, ".profile": _PROFILE, ".gitconfig": _GITCONFIG}
    return {path: Node(path, "file", 0o644, clock - 200 * _DAY, text.encode()) for path, text in texts.items()}
