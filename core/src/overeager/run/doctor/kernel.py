"""What the kernel channel rests on."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from overeager.audit.kernel import seccomp
from overeager.audit.kernel.pump import build as pump_build
from overeager.run.doctor.check import Check, status_of

_TRACING = Path("/proc/sys/kernel/yama/ptrace_scope")
_PACED = """
from overeager.audit.kernel import seccomp
seccomp.forbid_new_privileges()
raise SystemExit(0 if seccomp.wake_in_step(seccomp.install(seccomp.build_own_filter({}))) else 1)
"""


def check_kernel_channel() -> Check:
    """A seccomp listener is installed in a child process."""
    refusal = seccomp.refusal()
    if refusal is None:
        return Check("kernel channel", True, f"Linux {platform.release()} gives a seccomp listener", "")
    return Check(
        "kernel channel", None, refusal.reason, "use Linux 5.5 or later outside gVisor, or run with --no-kernel"
    )


def check_pace() -> Check:
    """The flag of Linux 6.6 that makes the kernel channel cheap is set in a child process."""
    name = "kernel channel's pace"
    if status_of([sys.executable, "-c", _PACED], None) == 0:
        return Check(name, True, "SYNC_WAKE_UP", "")
    return Check(
        name,
        None,
        "no SYNC_WAKE_UP: audited calls cost several times more",
        "use Linux 6.6 or later, or start the run on one processor: taskset -c 0 overeager run …",
    )


def check_tracing(contained: bool) -> Check:
    """Whether Yama lets us look into the agent's processes: ours by descent in bubblewrap, nobody's in a container."""
    name = "looking into processes"
    try:
        scope = int(_TRACING.read_text())
    except (OSError, ValueError):
        return Check(name, True, "Yama is not there", "")
    if os.geteuid() == 0 and scope < 3:
        return Check(name, True, f"kernel.yama.ptrace_scope={scope}, and we are root", "")
    allowed = 0 if contained else 1
    if scope <= allowed:
        return Check(name, True, f"kernel.yama.ptrace_scope={scope}", "")
    found = f"kernel.yama.ptrace_scope={scope}: the kernel channel could not read what calls are given"
    if scope >= 3:
        return Check(name, None, found, f"set kernel.yama.ptrace_scope={allowed} in /etc/sysctl.d and reboot")
    cure = f"sudo sysctl -w kernel.yama.ptrace_scope={allowed}"
    return Check(name, None, found, f"{cure}, or run as root" if contained else cure)


def check_form(cache: Path) -> Check:
    """The compiled loop is built, or found built, and watches a real process; without it the Python one does."""
    built = pump_build.build(cache)
    if built.path is not None:
        return Check("kernel channel's form", True, f"compiled by {built.form}", "")
    return Check(
        "kernel channel's form",
        None,
        f"in Python, about twice the cost of a call: {built.reason}",
        "install a C compiler (`cc`), or the extra `overeager[cc]`",
    )
