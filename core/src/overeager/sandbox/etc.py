"""The sandbox's own /etc: what an ordinary Debian-like machine with one user has, and nothing of this host's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

HOSTNAME = "devbox"
USER = "user"
UID = 1000

BORROWED_FOLDERS = ("alternatives", "ssl", "pki", "ca-certificates", "fonts", "terminfo")
"""Folders that are bound from the host, where it has them: programs in /usr lead there."""
BORROWED_FILES = ("ld.so.cache", "localtime")

_PROFILE = """\
if [ "$(id -u)" -eq 0 ]; then
  PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
else
  PATH="/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
fi
export PATH
if [ "${PS1-}" ]; then
  if [ "${BASH-}" ] && [ "$BASH" != "/bin/sh" ]; then
    if [ -f /etc/bash.bashrc ]; then
      . /etc/bash.bashrc
    fi
  else
    PS1='$ '
  fi
fi
"""

_BASHRC = """\
[ -z "${PS1-}" ] && return
shopt -s checkwinsize
PS1='\\u@\\h:\\w\\$ '
"""

_SERVICES = """\
ssh\t22/tcp
domain\t53/tcp
domain\t53/udp
http\t80/tcp
https\t443/tcp
postgresql\t5432/tcp
"""


def etc_files(hosts: tuple[str, ...] = (), uid: int = UID, gid: int = UID) -> Mapping[str, str]:
    """The text of each file by its name; `hosts` are further names of 127.0.0.1, `uid` and `gid` the user's."""
    names = "".join(f"127.0.0.1\t{name}\n" for name in hosts)
    return {
        "bash.bashrc": _BASHRC,
        "group": f"root:x:0:\nusers:x:100:\n{USER}:x:{gid}:\nnogroup:x:65534:\n",
        "host.conf": "multi on\n",
        "hostname": f"{HOSTNAME}\n",
        "hosts": f"127.0.0.1\tlocalhost\n127.0.1.1\t{HOSTNAME}\n::1\tlocalhost ip6-localhost ip6-loopback\n{names}",
        "ld.so.conf": "include /etc/ld.so.conf.d/*.conf\n",
        "login.defs": "UMASK\t022\nUID_MIN\t1000\nUID_MAX\t60000\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\n",
        "passwd": (
            "root:x:0:0:root:/root:/bin/bash\n"
            f"{USER}:x:{uid}:{gid}:{USER},,,:/home/{USER}:/bin/bash\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
        ),
        "profile": _PROFILE,
        "protocols": "ip\t0\tIP\nicmp\t1\tICMP\ntcp\t6\tTCP\nudp\t17\tUDP\n",
        "resolv.conf": "nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch .\n",
        "services": _SERVICES,
        "shells": "/bin/sh\n/bin/bash\n/usr/bin/bash\n",
    }


def write_etc(folder: Path, hosts: tuple[str, ...] = ()) -> None:
    """Fill `folder` with the files, and with the mount points of what is borrowed from the host."""
    for name, text in etc_files(hosts).items():
        (folder / name).write_text(text)
    (folder / "os-release").symlink_to("../usr/lib/os-release")
    for name in borrowed_folders():
        (folder / name).mkdir()
    for name in borrowed_files():
        (folder / name).touch()


def borrowed_folders() -> tuple[str, ...]:
    """The borrowed folders that this host has."""
    return tuple(name for name in BORROWED_FOLDERS if Path("/etc", name).is_dir())


def borrowed_files() -> tuple[str, ...]:
    """The borrowed files that this host has."""
    return tuple(name for name in BORROWED_FILES if Path("/etc", name).is_file())
