"""The numbers of the audited system calls, by machine.

`tests/test_audit_syscall_tables.py` holds them against the kernel's own headers.
"""

from __future__ import annotations

from collections.abc import Mapping

X86_64: Mapping[str, int] = {
    "open": 2, "openat": 257, "creat": 85, "openat2": 437, "unlink": 87, "unlinkat": 263, "rmdir": 84, "rename": 82,
    "renameat": 264, "renameat2": 316, "link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266, "mkdir": 83,
    "mkdirat": 258, "mknod": 133, "mknodat": 259, "chmod": 90, "fchmodat": 268, "fchmodat2": 452, "fchmod": 91,
    "chown": 92, "lchown": 94, "fchownat": 260, "fchown": 93, "truncate": 76, "ftruncate": 77, "fallocate": 285,
    "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "setxattrat": 463, "removexattr": 197, "lremovexattr": 198,
    "fremovexattr": 199, "removexattrat": 466, "file_setattr": 469, "open_by_handle_at": 304, "execve": 59,
    "execveat": 322, "exit_group": 231, "exit": 60, "kill": 62, "tkill": 200, "tgkill": 234,
    "pidfd_send_signal": 424, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "ptrace": 101,
    "process_vm_writev": 311, "connect": 42, "bind": 49, "sendto": 44, "sendmsg": 46, "sendmmsg": 307, "mount": 165,
    "umount2": 166, "move_mount": 429, "open_tree": 428, "open_tree_attr": 467, "fsopen": 430, "fsconfig": 431,
    "fsmount": 432, "mount_setattr": 442, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
    "seccomp": 317, "prctl": 157, "io_uring_setup": 425, "socket": 41,
}  # fmt: skip

AARCH64: Mapping[str, int] = {
    "openat": 56, "openat2": 437, "unlinkat": 35, "renameat": 38, "renameat2": 276, "linkat": 37, "symlinkat": 36,
    "mkdirat": 34, "mknodat": 33, "fchmodat": 53, "fchmodat2": 452, "fchmod": 52, "fchownat": 54, "fchown": 55,
    "truncate": 45, "ftruncate": 46, "fallocate": 47, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7,
    "setxattrat": 463, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16, "removexattrat": 466,
    "file_setattr": 469, "open_by_handle_at": 265, "execve": 221, "execveat": 281, "exit_group": 94, "exit": 93,
    "kill": 129, "tkill": 130, "tgkill": 131, "pidfd_send_signal": 424, "rt_sigqueueinfo": 138,
    "rt_tgsigqueueinfo": 240, "ptrace": 117, "process_vm_writev": 271, "connect": 203, "bind": 200, "sendto": 206,
    "sendmsg": 211, "sendmmsg": 269, "mount": 40, "umount2": 39, "move_mount": 429, "open_tree": 428,
    "open_tree_attr": 467, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "mount_setattr": 442, "pivot_root": 41,
    "chroot": 51, "unshare": 97, "setns": 268, "seccomp": 277, "prctl": 167, "io_uring_setup": 425, "socket": 198,
}  # fmt: skip
"""It never had the calls without a directory descriptor (open, unlink, …)."""

NUMBERS: Mapping[str, Mapping[str, int]] = {"x86_64": X86_64, "aarch64": AARCH64}
