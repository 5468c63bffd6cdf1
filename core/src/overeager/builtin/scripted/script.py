"""A persona's steps as one POSIX shell script for dash and bash; no interpreter is started but the steps' own.

It writes one JSON line a step. The first half of a line is written before the step runs and the second half after
it, so that a step which was cut short still stands in the stream. Output travels as hexadecimal bytes, since
commands may print anything.
"""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Collection, Mapping, Sequence

from overeager import Step

VERSION = "1"
FOLDER = ".local/share/session"
SCRIPT = f"{FOLDER}/run.sh"
OUTPUT = f"{FOLDER}/output"
"""Holds a command's output for as long as the command runs; empty before and after. Below the home, like SCRIPT."""

OUTPUT_BYTES = 65536

_RUNTIME = r"""
leader=; shell=sh
command -v setsid >/dev/null && leader=setsid
command -v bash >/dev/null && shell=bash

# bytes FILE: the file's first bytes in hexadecimal, in `hex`; fails when it cannot be read.
bytes() {
  hex=$(LC_ALL=C od -An -v -tx1 -w@LIMIT@ -N@LIMIT@ 2>/dev/null <"$1")
}

finish() {
  printf ',"status":%d,"output":"%s"}\n' "$code" "$hex"
}

# When a step has deleted the output file. Not `:`, whose failed redirection would end the shell.
elsewhere() {
  out=/dev/shm/output
  true 2>/dev/null >"$out" || out=/dev/null
}

# capture COMMAND...: in a session of its own; not through a pipe, which a child left behind would hold open.
capture() {
  cd "$work" 2>/dev/null
  [ -w "$out" ] || elsewhere
  $leader "$@" >"$out" 2>&1 </dev/null
  code=$?; hex=
  [ -s "$out" ] && bytes "$out"
  finish
}

take() {
  bytes "$1"; code=$?
  finish
}

parent() {
  [ -d "${1%/*}" ] || mkdir -p "${1%/*}" 2>/dev/null
}

# replace FILE OLD NEW: both texts as octal bytes, which every awk and printf handles alike.
replace() {
  hex=
  text=$({ printf '%s\n%s\n' "$2" "$3"; LC_ALL=C od -An -v -to1 2>/dev/null <"$1"; } | LC_ALL=C awk '
    NR == 1 { old = $0; next }
    NR == 2 { new = $0; next }
    { body = body $0 }
    END {
      at = index(body, old)
      if (!at) exit 3
      rest = substr(body, at + length(old))
      if (index(rest, old)) exit 4
      body = substr(body, 1, at - 1) new rest
      gsub(/ /, "\\\\", body)
      print body
    }')
  code=$?
  if [ "$code" -eq 0 ]; then printf "$text" 2>/dev/null >"$1"; code=$?; fi
  finish
}
""".replace("@LIMIT@", str(OUTPUT_BYTES))


def compile_script(steps: Sequence[Step], workspace: str, home: str, gated: Collection[str] = ()) -> str:
    """One script for dash and bash that does `steps` and writes a line for each, between a start and an end line; of a
    step whose kind is among `gated` it only tells that it was stopped."""
    lines = [
        f"work={shlex.quote(workspace)}\nout={shlex.quote(f'{home}/{OUTPUT}')}",
        _RUNTIME,
        _say({"type": "start", "version": VERSION}),
    ]
    for number, step in enumerate(steps, start=1):
        lines += [f"\n# {number}", *_compile_step(step, f"call_{number}", workspace, home, step.kind in gated)]
    # The output file is left as it was found, so that the agent's own doings change nothing.
    lines += ['\n[ -w "$out" ] && true >"$out"', _say({"type": "end"})]
    return "\n".join(lines) + "\n"


def _compile_step(step: Step, call: str, workspace: str, home: str, stopped: bool) -> list[str]:
    if step.kind in ("say", "ask"):
        return [_say({"type": step.kind, "text": step.say or step.ask or ""})]
    target = _target(step, workspace, home)
    head = {"type": step.kind, "id": call, "target": target, **_details(step)}
    if stopped:
        return [_say({**head, "blocked": "mode"})]
    return [f"printf %s {shlex.quote(_json(head)[:-1])}", _tool(step, shlex.quote(target))]


def _target(step: Step, workspace: str, home: str) -> str:
    """The command, the address, or the absolute path that a tool step is aimed at."""
    if step.shell is not None:
        return step.shell
    if step.fetch is not None:
        return step.fetch
    named = step.write or step.edit or step.search
    return absolute(named.path if named else step.read or ".", workspace, home)


def _details(step: Step) -> dict[str, str]:
    return {"pattern": step.search.pattern} if step.search else {}


def _tool(step: Step, target: str) -> str:
    """The shell text that does a tool step and finishes its line; `target` is quoted."""
    if step.shell is not None:
        return f'capture "$shell" -c {target}'
    if step.read is not None:
        return f"take {target}"
    if step.write is not None:
        return f"parent {target}; hex=\n{_print(step.write.content)} 2>/dev/null >{target}; code=$?; finish"
    if step.edit is not None:
        return f"replace {target} '{_octal(step.edit.old)}' '{_octal(step.edit.new)}'"
    if step.search is not None:
        return f"capture grep -rn -e {shlex.quote(step.search.pattern)} -- {target}"
    return f"capture curl -sS -f -m 30 {target}"


def _print(text: str) -> str:
    """A `printf` that writes exactly `text`; a NUL, which no shell word can hold, goes by its octal escape."""
    if "\0" not in text:
        return f"printf %s {shlex.quote(text)}"
    escaped = text.replace("\\", "\\\\").replace("%", "%%").replace("\0", "\\000")
    return f"printf {shlex.quote(escaped)}"


def _octal(text: str) -> str:
    return "".join(f" {byte:03o}" for byte in text.encode("utf-8", "surrogateescape"))


def _json(value: Mapping[str, str]) -> str:
    return json.dumps(value, separators=(",", ":"))


def _say(value: Mapping[str, str]) -> str:
    return f"printf '%s\\n' {shlex.quote(_json(value))}"


def absolute(path: str, workspace: str, home: str) -> str:
    """`path` of a scenario as an absolute path inside the sandbox, lexically normalised."""
    joined = posixpath.join(home, path[2:]) if path.startswith("~/") else posixpath.join(workspace, path)
    return posixpath.normpath(joined)
