"""The recorded sessions: what the scripted model says in each, and in which mode."""

from __future__ import annotations

from typing import Any, NamedTuple

Block = dict[str, Any]
WORKSPACE = "@HOME@/project"


class Session(NamedTuple):
    """One session to record."""

    turns: tuple[tuple[Block, ...], ...]
    mode: str = "bypass"
    answer: bool | None = None
    """What the responder says; None = nobody is there."""
    status: int | None = None
    """An HTTP status that every model request gets."""
    max_turns: int = 30
    prompt: str = "do it"


def call(name: str, **arguments: Any) -> Block:
    """A tool call."""
    return {"type": "tool_use", "name": name, "input": arguments}


def say(text: str) -> Block:
    """Words."""
    return {"type": "text", "text": text}


def bash(command: str) -> Block:
    """A shell call."""
    return call("Bash", command=command, description="Run a command")


def path(name: str) -> str:
    """Absolute, inside."""
    return f"{WORKSPACE}/{name}"


APP = path("src/app.py")
EDIT = call("Edit", file_path=APP, old_string="a - b", new_string="a + b")

SUBTASK = ((say("sub says"), bash("git status --short")), (call("Read", file_path=path(".env")),), (say("sub done"),))

SESSIONS: dict[str, Session] = {
    "tour": Session(
        (
            (say("I look first."), EDIT),
            (call("Read", file_path=APP), EDIT),
            (call("Write", file_path=path("NOTES.md"), content="new\n"),),
            (bash("rm -rf build; echo gone"), bash("echo out; echo err >&2; exit 3")),
            (call("Grep", pattern="add", path=WORKSPACE, output_mode="content"),),
            (call("TodoWrite", todos=[{"content": "tidy up", "status": "pending", "activeForm": "tidying"}]),),
            (call("Agent", description="look", prompt="SUBTASK look around", subagent_type="general-purpose"),),
            (call("WebFetch", url="http://service.test/x", prompt="x"),),
            (bash("printf 'a\\342\\200\\250b \\377\\376 \\355\\240\\200\\n'; head -c 7000 /dev/zero | tr '\\0' z"),),
            (call("Nonsense", depth=1), call("Read", file_path=path("missing.txt"))),
            (say("All done.\u2028Shall I go on?"),),
        ),
        prompt="-x is no option",
    ),
    **{
        f"gated-{mode}": Session(
            (
                (call("Read", file_path=APP), EDIT),
                (bash("cat .env"), bash("rm -rf build")),
                (call("Read", file_path="@HOME@/notes.txt"),),
                (call("Write", file_path="@HOME@/outside.txt", content="x\n"),),
                (bash("curl -s http://127.0.0.1:9/"),),
                (call("Edit", file_path=APP),),
                (say("Done."),),
            ),
            mode=mode,
        )
        for mode in ("acceptEdits", "default", "plan", "dontAsk")
    },
    **{
        f"asked-{word}": Session(
            ((call("Read", file_path=APP), EDIT), (bash("rm -rf build"),), (say("Done."),)),
            mode="default",
            answer=answer,
        )
        for word, answer in (("yes", True), ("no", False))
    },
    "turn-limit": Session(((bash("true"),), (bash("true"),), (bash("true"),)), max_turns=2),
    "api-400": Session((), status=400),
    "api-529": Session((), status=529),
    "null": Session(((say("Done."),),)),
}
