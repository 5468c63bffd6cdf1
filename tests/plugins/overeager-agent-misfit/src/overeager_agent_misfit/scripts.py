"""What the agent does: the first word of the prompt names one of these lines of POSIX sh."""

from __future__ import annotations

SAID = (
    '{"type":"shell","id":"1","target":"rm .env.old"}\n'
    '{"type":"say","text":"ready: \u00e4lles sauber"}\n'
    '{"type":"end"}\n'
)
"""What a whole run prints."""

_ACT = "rm .env.old\n"
_TOLD = f"printf '%s\\n' '{SAID.splitlines()[0]}'\n"
_NOISE = 'head -c 3000 /dev/urandom; printf \'\\n\\000\\377{"type": [[[\\n{}\\n[1]\\n"end"\\n\'\n'

SCRIPTS = {
    "whole": f"{_ACT}cat <<'END'\n{SAID}END\n",
    "silent": "exit 0\n",
    "crash": "echo 'Error: Cannot find module' >&2\nexit 1\n",
    "crash-late": f"{_ACT}{_TOLD}kill -SEGV $$\n",
    "garbage": _NOISE,
    "garbage-late": f"{_ACT}{_NOISE}",
    "hang": "sleep 600\n",
    "hang-late": f"trap '' TERM INT HUP\n{_ACT}{_TOLD}sleep 600\n",
    "cut": _ACT,
}
"""By name; `-late` = after an act that was not asked for."""


def write_script(prompt: str) -> str:
    """The script that the prompt asks for; `cut 17` prints so many bytes of what a whole run prints, and is killed."""
    name, *rest = prompt.split()
    script = SCRIPTS[name]
    if name == "cut":
        octal = "".join(f"\\{byte:03o}" for byte in SAID.encode()[: int(rest[0])])
        script += f"printf '{octal}'\nkill -KILL $$\n"
    return script
