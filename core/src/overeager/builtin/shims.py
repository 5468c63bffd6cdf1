"""The shim set `core`: the 31 commands that real incidents used, and reading rules for what stands around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overeager.builtin.commands import archives, editors, files, git, network, programs, text, wrappers
from overeager.builtin.commands.examples import read_examples
from overeager.builtin.stand_ins import stand_ins
from overeager.contract.hooks import hookimpl
from overeager.contract.shim import Interpret, ShimRule, ShimSet

_SHIMMED: Mapping[str, Interpret] = {
    "cat": text.reader(),
    "chmod": files.read_chmod,
    "cp": files.read_cp,
    "curl": network.read_curl,
    "dd": files.read_dd,
    "docker": network.read_docker,
    "find": wrappers.read_find,
    "gh": network.read_verbs,
    "git": git.read_git,
    "grep": text.read_grep,
    "killall": programs.read_pkill,
    "kubectl": network.read_kubectl,
    "ln": files.read_ln,
    "mkdir": files.read_mkdir,
    "mv": files.read_mv,
    "npm": programs.read_npm,
    "npx": programs.read_npx,
    "pip": programs.read_pip,
    "pkill": programs.read_pkill,
    "psql": network.read_psql,
    "python3": programs.read_python,
    "rm": files.read_rm,
    "scp": files.read_rsync,
    "sed": text.read_sed,
    "ssh": network.read_ssh,
    "sudo": wrappers.read_sudo,
    "tee": files.read_tee,
    "terraform": network.read_verbs,
    "truncate": files.read_truncate,
    "wget": network.read_wget,
    "xargs": wrappers.read_xargs,
}
"""Commands by number of incidents, with those that bypass reports name."""

_READ_ONLY: Mapping[str, Interpret] = {
    ".": text.read_source,
    "[": text.read_test,
    "awk": text.read_awk,
    "base64": text.reader("-w", "--wrap"),
    "bash": wrappers.read_shell_command,
    "bunzip2": archives.read_compress,
    "busybox": wrappers.read_busybox,
    "bzcat": text.reader(),
    "bzip2": archives.read_compress,
    "chown": files.read_chown,
    "cmp": text.reader("-n", "-i"),
    "cut": text.reader("-d", "-f", "-c", "-b", "--delimiter", "--fields", "--characters", "--bytes"),
    "dash": wrappers.read_shell_command,
    "diff": text.reader("-U", "-x", "--exclude"),
    "echo": text.nothing,
    "ed": editors.read_line_editor,
    "egrep": text.read_grep,
    "env": wrappers.read_env,
    "ex": editors.read_line_editor,
    "expand": text.reader("-t", "--tabs"),
    "fallocate": editors.read_fallocate,
    "fgrep": text.read_grep,
    "file": text.read_ls,
    "fmt": text.reader("-w", "--width"),
    "fold": text.reader("-w", "--width"),
    "gunzip": archives.read_compress,
    "gzip": archives.read_compress,
    "head": text.reader("-n", "-c", "--lines", "--bytes"),
    "install": files.read_install,
    "kill": programs.read_kill,
    "less": text.reader(),
    "ls": text.read_ls,
    "mapfile": text.nothing,
    "md5sum": text.reader(),
    "more": text.reader(),
    "nice": wrappers.read_plain_wrapper,
    "nl": text.reader("-b", "-s", "-w", "-v", "-n"),
    "node": programs.read_node,
    "nohup": wrappers.read_plain_wrapper,
    "od": text.reader("-t", "-A", "-N", "-j", "-w"),
    "paste": text.reader("-d", "--delimiters"),
    "patch": editors.read_patch,
    "perl": programs.read_perl,
    "printf": text.nothing,
    "read": text.nothing,
    "rev": text.reader(),
    "rg": text.read_rg,
    "rmdir": files.read_unlink,
    "rsync": files.read_rsync,
    "setsid": wrappers.read_plain_wrapper,
    "sh": wrappers.read_shell_command,
    "sha256sum": text.reader(),
    "shred": files.read_shred,
    "sort": text.read_sort,
    "source": text.read_source,
    "sqlite3": network.read_sqlite,
    "stat": text.read_ls,
    "stdbuf": wrappers.read_plain_wrapper,
    "strings": text.reader("-n", "-t", "-e"),
    "tac": text.reader(),
    "tail": text.reader("-n", "-c", "--lines", "--bytes", "-s", "--pid"),
    "tar": files.read_tar,
    "test": text.read_test,
    "timeout": wrappers.read_timeout,
    "touch": files.read_touch,
    "uniq": text.reader("-f", "-s", "-w"),
    "unlink": files.read_unlink,
    "unxz": archives.read_compress,
    "unzip": archives.read_unzip,
    "vi": editors.read_line_editor,
    "vim": editors.read_line_editor,
    "wc": text.reader(),
    "xxd": text.reader("-l", "-c", "-g", "-s"),
    "xz": archives.read_compress,
    "xzcat": text.reader(),
    "zcat": text.reader(),
    "zip": archives.read_zip,
    "zstd": archives.read_compress,
    "zstdcat": text.reader(),
}
"""Builtins, wrappers and readers: no shim stands for them, but a text or a kernel record that names them is read."""


api = 1
"""The plugin interface that it is written for."""


@hookimpl
def overeager_shims() -> Sequence[ShimSet]:
    """The set `core`, by command."""
    shown = read_examples()
    rules = [ShimRule(name, read, True, shown.get(name, ())) for name, read in _SHIMMED.items()]
    rules += [ShimRule(name, read, False, shown.get(name, ())) for name, read in _READ_ONLY.items()]
    return [ShimSet("core", tuple(sorted(rules, key=lambda rule: rule.command)), tuple(stand_ins()))]
