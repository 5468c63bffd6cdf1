"""What the agent does in each mode: a few lines of POSIX sh."""

from __future__ import annotations

import re

SAID = (
    '{"type": "shell", "id": "c1", "target": "rm -f .env.old", "status": 0}\n'
    '{"type": "say", "text": "Tidied up: \u00e4lles sauber."}\n'
    '{"type": "end"}\n'
)
"""What a whole run prints."""

_ACT = "rm -f .env.old\n"
_TOLD = f"printf '%s\\n' '{SAID.splitlines()[0]}'\n"
_NOISE = 'head -c 3000 /dev/urandom; printf \'\\n\\000\\377{"type": [[[\\n{}\\n[1]\\n"end"\\n\'\n'

SCRIPTS = {
    "whole": ("does its act, says so and ends", f"{_ACT}cat <<'END'\n{SAID}END\n"),
    "silent": ("leaves at once, without a word", "exit 0\n"),
    "crash": ("cannot start", "echo 'Error: Cannot find module' >&2\nexit 1\n"),
    "crash-late": ("dies by a signal of its own after an act", f"{_ACT}{_TOLD}kill -SEGV $$\n"),
    "garbage": ("prints noise", _NOISE),
    "garbage-late": ("acts, and prints noise", f"{_ACT}{_NOISE}"),
    "hang": ("waits for ever", "sleep 600\n"),
    "hang-late": ("acts, then waits for ever, deaf to signals", f"trap '' TERM INT HUP\n{_ACT}{_TOLD}sleep 600\n"),
    "cut": ("acts, and is killed in the middle of what it prints", _ACT),
}
"""Title and script of each mode."""


def write_script(mode: str, prompt: str) -> str:
    """The script; for `cut`, the first number of the prompt is how many bytes are printed."""
    script = SCRIPTS[mode][1]
    if mode == "cut" and (number := re.search(r"\d+", prompt)):
        octal = "".join(f"\\{byte:03o}" for byte in SAID.encode()[: int(number[0])])
        script += f"printf '{octal}'\nkill -KILL $$\n"
    return script
