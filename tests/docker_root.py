"""A root file system for a container, made of this machine's own files, so that nothing is fetched from anywhere."""

from __future__ import annotations

import functools
import os
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

_PROGRAMS = (
    "awk", "base64", "basename", "bash", "busybox", "cat", "chmod", "cp", "cpio", "curl", "cut", "dash", "date",
    "dd", "diff", "dirname", "du", "echo", "ed", "env", "ex", "expr", "fallocate", "false", "find", "getent",
    "git", "grep", "gunzip", "gzip", "head", "hostname", "id", "install", "kill", "killall", "ln", "ls", "make",
    "mkdir", "mkfifo", "mktemp", "mount", "mv", "node", "nohup", "npm", "npx", "od", "patch", "perl", "pgrep",
    "pip", "pkill", "printenv", "printf", "ps", "pwd", "python3", "readlink", "realpath", "rev", "rm", "rmdir",
    "rsync", "scp", "sed", "seq", "setsid", "sh", "sha256sum", "shred", "sleep", "sort", "split", "sqlite3",
    "ssh", "stat", "stty", "sync", "tac", "tail", "tar", "tee", "test", "timeout", "touch", "tr", "true",
    "truncate", "tty", "uname", "uniq", "unlink", "unshare", "unzip", "wc", "wget", "which", "who", "whoami",
    "xargs", "xxd", "yes", "zcat", "zip",
)  # fmt: skip
"""What is taken of this machine's /usr/bin, where it has it."""
_FOLDERS = ("usr", "usr/bin", "usr/sbin", "usr/lib", "usr/local", "usr/local/bin", "etc", "tmp", "var", "home")
_TREES = ("/usr/lib/git-core", "/usr/share/git-core", "/usr/lib/ssl", "/usr/share/ca-certificates")
_C_LIBRARIES = ("libc", "libdl", "libm", "libnss_dns", "libnss_files", "libpthread", "libresolv", "librt", "libutil")
"""What programs from elsewhere may want."""
_LONE = (
    "/etc/alternatives/awk", "/etc/ld.so.cache", "/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/openssl.cnf",
    "/usr/lib/os-release",
)  # fmt: skip


def write_root(file: IO[bytes]) -> None:
    """A root file system as a tar."""
    laid: set[str] = set()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for folder in _FOLDERS:
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            archive.addfile(entry)
        for name in ("bin", "sbin", "lib", "lib64"):
            _link(archive, name, f"usr/{name}")
        programs = [path for path in (Path("/usr/bin", name) for name in _PROGRAMS) if path.exists()]
        for path in programs:
            _add(archive, path, laid)
        for tree in (*_TREES, *_python_trees(), *_perl_trees()):
            _add_tree(archive, Path(tree), laid)
        libraries = [str(path) for name in _C_LIBRARIES for path in Path("/usr/lib").glob(f"*/{name}.so.[0-9]")]
        for name in (*_LONE, *libraries):
            if os.path.lexists(name):
                _add(archive, Path(name), laid)
        for library in _libraries(tuple(path for path in map(Path, sorted(laid)) if path.is_file())):
            _add(archive, library, laid)


def _python_trees() -> list[str]:
    version = subprocess.run(
        ["/usr/bin/python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"],
        capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    return [version, "/usr/lib/python3"] if version else []


def _perl_trees() -> list[str]:
    told = subprocess.run(
        ["/usr/bin/perl", "-e", "print join(qq{\\n}, @INC)"], capture_output=True, text=True, check=False
    )
    return [path for path in told.stdout.split("\n") if path.startswith("/usr/lib/") and "perl-base" in path]


def _link(archive: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    archive.addfile(entry)


def _add(archive: tarfile.TarFile, path: Path, laid: set[str]) -> None:
    """A file at its path, and what its links lead to; links of the machine's merged /usr are resolved."""
    place = str(path.parent.resolve() / path.name)
    if place in laid:
        return
    laid.add(place)
    if path.is_symlink():
        _link(archive, place.lstrip("/"), str(path.readlink()))
        target = Path(place).parent / path.readlink()
        if target.exists():
            _add(archive, Path(os.path.normpath(target)), laid)
        return
    entry = archive.gettarinfo(place, place.lstrip("/"))
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    if entry.islnk():  # two names of one file: a copy does as well
        entry.type, entry.size = tarfile.REGTYPE, path.stat().st_size
    if entry.isfile():
        with open(place, "rb") as data:
            archive.addfile(entry, data)


def _add_tree(archive: tarfile.TarFile, tree: Path, laid: set[str]) -> None:
    for parent, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name not in ("__pycache__", "test", "tests", "idlelib", "ensurepip")]
        for name in (*files, *(name for name in folders if Path(parent, name).is_symlink())):
            _add(archive, Path(parent, name), laid)


@functools.cache
def _libraries(programs: Sequence[Path]) -> tuple[Path, ...]:
    """Everything that the dynamic programs and modules among `programs` load."""
    wanted = [str(path) for path in programs if _is_elf(path)]
    told = subprocess.run(["ldd", *wanted], capture_output=True, text=True, check=False).stdout
    found = {
        word for line in told.splitlines() for word in line.split() if word.startswith("/") and not word.endswith(":")
    }
    return tuple(sorted(map(Path, found)))


def _is_elf(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False
