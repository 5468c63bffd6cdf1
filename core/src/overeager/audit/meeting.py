"""Places where those inside find us: sockets that lie in a folder of the sandbox."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def open_meeting(kind: socket.SocketKind, path: Path, *, names_senders: bool = False) -> socket.socket:
    """A socket at `path` that does not block, to which every user may connect or send."""
    place = socket.socket(socket.AF_UNIX, kind | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    if names_senders:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        # The name goes through the descriptor: a socket's path may have 107 bytes only.
        place.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
    path.chmod(0o666)
    return place
