"""The small agent broken in one thing at a time: which checks must fail, and what must be said."""

from __future__ import annotations

from typing import NamedTuple

CLASS = "\n\nclass SmallAgent(OneWayAgent):"
PARSING = '        lines = tuple(read_lines(members.get("stdout", b"")))\n'
LAUNCH = "        return Launch(argv, {"
EXEC = '        Housekeeping("exec", r"(?s)(?:/usr/bin/)?python3 -B /home/user/\\.small/program\\.py .*"),\n'
NO_VENDOR = "\n    vendor: ClassVar[Vendor | None] = None"
VENDOR = """
    from overeager import Package, Release
    packages = (Package("small", "1.0", "sha512-{sha512}"),)
    vendor = Vendor("Small", "free", (Release("1", "linux-x86_64", packages, "{binary}", "{sha}", 1),))
"""
GHOST = "Action(sequence=0, channel='agent', kind='exec', state='executed', source=Pointer(member='stdout', line=1))"
SHA512 = "A" * 86 + "=="


class Wrong(NamedTuple):
    """A wrong adapter: what is another in it, which checks fail, and a word of what is said."""

    name: str
    codes: str
    said: str
    changes: tuple[tuple[str, str], ...]


def wrong(name: str, codes: str, said: str, *changes: tuple[str, str]) -> Wrong:
    """In the order in which one thinks of it."""
    return Wrong(name, codes, said, changes)


def at_import(name: str, text: str, said: str) -> Wrong:
    """Does something when it is imported, but for the tests' own process, which must stay as it is."""
    guarded = f"import os\nif '/place-' in os.environ.get('TMPDIR', ''):\n    exec({text!r})\n"
    return wrong(name, "import-quiet", said, (CLASS, f"\n{guarded}{CLASS}"))


def vendor(name: str, said: str, sha512: str = SHA512, binary: str = "bin/small", sha: str = "a" * 64) -> Wrong:
    """Pins a release, with something wrong in it."""
    told = VENDOR.format(sha512=sha512, binary=binary, sha=sha)
    return wrong(name, "pins", said, (NO_VENDOR, told))


WRONG = (
    at_import("prints", "print('hello')", "prints 'hello'"),
    at_import("sets_variable", "import os\nos.environ['SMALL'] = '1'", "changes the environment"),
    at_import("writes", "import os\nopen(os.devnull, 'w').close()", "writes the file"),
    at_import("opens_socket", "import socket\nsocket.socket().close()", "causes socket."),
    at_import("starts_process", "import subprocess\nsubprocess.run(['true'])", "causes subprocess.Popen"),
    at_import("moves", "import os\nos.chdir('/')", "the working directory"),
    at_import(
        "starts_thread",
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()",
        "the number of threads",
    ),
    wrong("slow", "import-quick", "importing it takes", (CLASS, f"\nimport time\ntime.sleep(2)\n{CLASS}")),
    wrong("mode_twice", "declarations launch-modes", "'free' stands 2", ('Mode("careful"', 'Mode("free"')),
    wrong("stream_elsewhere", "declarations", "below the home", ('"stdout", "stdout")', '"stdout", "/var/log/x")')),
    wrong("no_secret", "declarations", "holds the key", ('= ("SMALL_API_KEY",)', "= ()")),
    wrong("untested", "pins", "no tested version", ('tuple[str, ...]] = ("1",)', "tuple[str, ...]] = ()")),
    vendor("half_a_hash", "the sha512 of small", sha512="A" * 40),
    vendor("binary_outside", "no path below the install", binary="/usr/bin/small"),
    vendor("upper_case", "64 lower-case", sha="A" * 64),
    wrong("no_null_trial", "null-declared", "no acts of a null trial", ('= {"1": (f"read ~/{FILE}",)}', "= {}")),
    wrong("no_act", "null-declared", "is not a kind", ('(f"read ~/{FILE}",)', '("peeked",)')),
    wrong(
        "excuses_all",
        "housekeeping-narrow",
        "would excuse",
        ('Housekeeping("read"', 'Housekeeping("delete", ".*"), Housekeeping("read"'),
    ),
    wrong("looks_round", "launch-pure", "getcwd", (LAUNCH, "        import os\n        os.getcwd()\n" + LAUNCH)),
    wrong(
        "asks_the_time",
        "launch-pure",
        "reads the clock",
        (LAUNCH, "        import time\n        time.time()\n" + LAUNCH),
    ),
    wrong(
        "asks_the_day",
        "launch-pure",
        "reads the clock",
        (LAUNCH, "        __import__('datetime').datetime.now()\n" + LAUNCH),
    ),
    wrong(
        "reads_a_file", "launch-pure", "reads the file", (LAUNCH, "        open('/etc/hostname').close()\n" + LAUNCH)
    ),
    wrong(
        "reads_a_variable",
        "launch-pure",
        "the variable LANG",
        (LAUNCH, "        __import__('os').getenv('LANG')\n" + LAUNCH),
    ),
    wrong("own_home", "launch-no-host", "sets HOME", (LAUNCH, LAUNCH + '"HOME": "/root", ')),
    wrong("file_outside", "launch-no-host", "below the home", ("{FILE: PROGRAM}", '{FILE: PROGRAM, "../x": ""}')),
    wrong("own_folder", "launch-no-host", "names the host's", ('"-B"', "__file__")),
    wrong(
        "real_key",
        "launch-secrets launch-pure launch-told",
        "SMALL_API_KEY",
        ("task.key}", "__import__('os').environ.get('SMALL_API_KEY', '')}"),
    ),
    wrong("no_prompt", "launch-told", "the prompt", ("task.model, task.prompt)", "task.model)")),
    wrong("no_endpoint", "launch-told", "the endpoint", ('task.endpoint or ""', '""')),
    wrong("one_mode", "launch-modes", "alike in the modes free and careful", ("task.mode,", '"free",')),
    wrong("done_too_early", "parse-cut", "becomes executed", ('"unfinished", None, None', '"executed", None, None')),
    wrong("ends_too_early", "parse-cut parse-odd", "the end", ('"completed" if ended', '"completed" if not ended')),
    wrong(
        "raises",
        "parse-cut parse-odd",
        "raises JSONDecodeError",
        ("except (ValueError, RecursionError)", "except RecursionError"),
    ),
    wrong("half_letters", "parse-odd", "UnicodeDecodeError", ('.decode("utf-8", "replace")', ".decode()")),
    wrong(
        "nesting", "parse-odd", "raises RecursionError", ("except (ValueError, RecursionError)", "except ValueError")
    ),
    wrong(
        "invents",
        "parse-odd",
        "no evidence",
        ("        actions = tuple(", f"        actions = ({GHOST},) if not lines else tuple("),
    ),
    wrong(
        "drops", "parse-accounts", "leaves no action", ("elif kind not in (", "elif kind is not None and kind not in (")
    ),
    wrong("reads_nothing", "parse-accounts parse-states", "leaves no action", (PARSING, "        lines = ()\n")),
    wrong("points_nowhere", "parse-accounts parse-odd", "which is no line", ("line=number)", "line=number + 90)")),
    wrong(
        "drops_results",
        "parse-orphans",
        "is dropped",
        (' or (kind == "result" and str(line.get("id")) not in calls)', ""),
    ),
    wrong(
        "guesses",
        "parse-unknown-tools",
        "by a tool named",
        ('str(line.get("name")) in TOOLS and ', ""),
        ('TOOLS[line["name"]]', 'TOOLS.get(str(line.get("name")), TOOLS["Run"])'),
    ),
    wrong("gate_unsaid", "parse-states", "by what", ('"blocked", "mode"', '"blocked", None')),
    wrong("own_gate", "parse-states", "'chance'", ('"blocked", "mode"', '"blocked", "chance"')),
    wrong(
        "all_well",
        "parse-states",
        "every call was executed",
        ('"blocked", "mode"', '"executed", None'),
        ('"failed" if status else ', ""),
    ),
    wrong(
        "parses_by_time",
        "functions-pure",
        "reads the clock",
        (PARSING, f"        __import__('time').time()\n{PARSING}"),
    ),
    wrong("parses_by_chance", "functions-pure", "depends on", ('words[-1] if words else ""', 'str(hash("a"))')),
    wrong(
        "remembers",
        "functions-pure",
        "parse depends on more than its arguments",
        (PARSING, f"{PARSING}        self.seen = getattr(self, 'seen', 0) + 1\n"),
        ('words[-1] if words else ""', "str(self.seen)"),
    ),
    wrong(
        "counts",
        "launch-pure",
        "launch depends on more than its arguments",
        (LAUNCH, "        self.seen = getattr(self, 'seen', 0) + 1\n" + LAUNCH + '"NUMBER": str(self.seen), '),
    ),
    wrong(
        "starts_threads",
        "launch-pure",
        "starts a thread",
        (LAUNCH, "        import threading\n        threading.Thread(target=int).start()\n" + LAUNCH),
    ),
    wrong(
        "not_offered", "encode-offered", "though only", ("call if call and call.name in offered_tools", "call if call")
    ),
    wrong("relative", "encode-offered", "lacks '/home/user/project-x/README.md'", ("place(step.read)", "step.read")),
    wrong(
        "cannot_edit", "encode-offered", "no call does a edit", ('"Change", {"path": place', '"None", {"path": place')
    ),
    wrong(
        "trusts",
        "classify-safe",
        "raises KeyError",
        ('Classified("main", "main")', 'Classified("main", request["model"])'),
    ),
    wrong(
        "greets_only",
        "converse-safe",
        "no recording holds a question",
        ("    def classify(", '    def greet(self, task):\n        return (b"hello\\n",)\n\n    def classify('),
    ),
)


class WrongAlive(NamedTuple):
    """One that only a session in the sandbox shows."""

    name: str
    codes: str
    tried: str
    """The checks that are made: those of which a session exists anyway."""
    said: str
    changes: tuple[tuple[str, str], ...]


TOURS = "live-steps live-states live-shims live-null"

WRONG_ALIVE = (
    WrongAlive(
        "reads_otherwise",
        "live-steps",
        TOURS,
        'the step {"read":"README.md"}',
        (('"Look": ("read"', '"Look": ("list"'),),
    ),
    WrongAlive(
        "calls_blocked_done",
        "live-states live-shims",
        TOURS,
        "gate-1 is not there",
        (('"blocked", "mode"', '"executed", None'),),
    ),
    WrongAlive(
        "calls_done_blocked",
        "live-states live-shims",
        TOURS,
        "is there",
        (('is True:\n        return "blocked"', 'is not None:\n        return "blocked"'),),
    ),
    WrongAlive("does_unasked", "live-shims live-null", TOURS, "ran in no tool call", ((EXEC, ""),)),
    WrongAlive(
        "looks_unasked", "live-null", TOURS, "is no housekeeping", (('        Housekeeping("list", PYTHON),\n', ""),)
    ),
    WrongAlive(
        "never_ends",
        "live-timeout",
        "live-timeout",
        "ends as completed",
        (('"completed" if ended else "none"', '"completed"'),),
    ),
)
