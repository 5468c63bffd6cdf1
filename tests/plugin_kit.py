"""Plugins for tests of loading, good and broken: each a distribution of its own, with what is to be said of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from wheel_kit import Wheel

ATOMS = """
from overeager import atom, hookimpl

api = 1

@atom("{atom}", category="files read", shown_by=("fs",))
def predicate(evidence, *, path: str):
    "Something is so."
    return evidence.changes(path=path)

"""
ATOM_HOOK = "    return [predicate.overeager_atom]\n"

ADAPTER = """
from overeager import Mode

class Adapter:
    api = 1
    id = "{id}"
    vendor = None
    wire_api = None
    modes = (Mode("bypass", "everything"),)
    streams = ()
    secrets = ()
    housekeeping = ()
    plays_personas = False
    tested_versions = ()
    null_trials = {{}}

    def launch(self, task): ...
    def parse(self, members): ...
    def encode(self, step, offered_tools, workspace, home): ...
    def classify(self, request): ...
    def greet(self, task): ...
    def converse(self, line, state, answer): ...
"""


class Plugin(NamedTuple):
    """A distribution of one module with one entry point, and what is to be said of it."""

    group: str
    name: str
    source: str | None
    """None = the wheel holds no module."""
    status: str = "ok"
    reason: str = ""
    code: str = ""
    value: str = "{module}"
    own_distribution: str = ""

    @property
    def distribution(self) -> str:
        """`overeager-test-NAME` unless it has one of its own."""
        return self.own_distribution or f"overeager-test-{self.name}"

    @property
    def label(self) -> str:
        """As `--only-plugin` takes it."""
        return f"{self.group}:{self.name}"

    def wheel(self) -> Wheel:
        """What its author would publish."""
        module = self.distribution.replace("-", "_")
        files = {} if self.source is None else {f"{module}.py": self.source}
        points = {f"overeager.{self.group}": {self.name: self.value.format(module=module)}}
        return Wheel(self.distribution, files, points)


def atoms(name: str, before: str, *said: str, hook: str = "def overeager_atoms():\n" + ATOM_HOOK) -> Plugin:
    """A module of atoms: `before` its first line, or its `@` mark of the hook."""
    mark = before if before.startswith("@") else "@hookimpl"
    text = ATOMS.format(atom=f"test.{name}") + f"{mark}\n{hook}"
    return Plugin("atoms", name, text if before == mark else before + text, *said)


def changed_atoms(name: str, old: str, new: str, *said: str) -> Plugin:
    """A module of atoms with one thing in it another."""
    text = ATOMS.format(atom=f"test.{name}") + "@hookimpl\ndef overeager_atoms():\n" + ATOM_HOOK
    assert old in text
    return Plugin("atoms", name, text.replace(old, new), *said)


def agent(name: str, old: str, new: str, *said: str, value: str = "{module}:Adapter") -> Plugin:
    """An adapter with one thing in it another."""
    text = ADAPTER.format(id=name)
    assert old in text
    return Plugin("agents", name, text.replace(old, new), *said, value=value)


GOOD = (
    atoms("good", ""),
    agent("good-agent", "", ""),
    agent("good-range", "api = 1", "api = (1, 3)"),
    changed_atoms("gapped", "api = 1\n", 'api = 1\nknown_gaps = {"atom-monotone": "an idea of ours"}\n'),
)

BROKEN = (
    atoms("needs", "import not_there\n", "broken", "needs the module 'not_there', which is not installed", "PLG003"),
    atoms("leaves", "raise SystemExit(3)\n", "broken", "fails at import with SystemExit: 3", "PLG003"),
    atoms("asserts", "assert False, 'no'\n", "broken", "fails at import with AssertionError: no", "PLG003"),
    atoms("interrupts", "raise KeyboardInterrupt\n", "broken", "fails at import with KeyboardInterrupt", "PLG003"),
    atoms("prints", "print('hello')\n", "broken", "prints during import: 'hello'", "PLG003"),
    atoms("prints-raw", "import os\nos.system('echo raw')\n", "broken", "prints during import: 'raw'", "PLG003"),
    atoms("hangs", "import time\ntime.sleep(600)\n", "broken", "hangs at import: not done after 1.5 s", "PLG003"),
    atoms(
        "hangs-on",
        "import time\nwhile True:\n    try:\n        time.sleep(600)\n    except BaseException:\n        pass\n",
        "broken", "hangs at import", "PLG003",
    ),
    atoms("quits", "import os\nos._exit(0)\n", "broken", "ends the process at import, with exit status 0", "PLG003"),
    atoms(
        "crashes", "import ctypes\nctypes.string_at(0)\n", "broken", "ends the process at import, by SIGSEGV", "PLG003"
    ),
    atoms(
        "unknown-hook", "", "misfit", "implements the unknown hook 'overeager_atmos'", "PLG004",
        hook="def overeager_atmos():\n" + ATOM_HOOK,
    ),
    atoms(
        "wrong-argument", "", "misfit", "has a hook with wrong arguments", "PLG004",
        hook="def overeager_atoms(config):\n" + ATOM_HOOK,
    ),
    agent("wrong-id", 'id = "wrong-id"', 'id = "other"', "misfit", "has an adapter whose id is 'other'", "PLG004"),
    agent("nothing", "", "", "broken", "attribute that is not there", "PLG003", value="{module}:Nothing"),
    agent("future", "api = 1", "api = 2", "API too new", "is written for API 2, newer than this overeager", "PLG007"),
    changed_atoms("far", "api = 1", "api = (2, 4)", "API too new", "written for API 2 to 4, newer than", "PLG007"),
    agent("past", "api = 1", "api = 0", "API too old", "is written for API 0, older than this overeager", "PLG007"),
    Plugin(
        "atoms", "twice", "api = 1\n", "duplicate", "is also brought by overeager-test-twice-b 1.2", "PLG005",
        own_distribution="overeager-test-twice-a",
    ),
    Plugin(
        "atoms", "twice", "api = 1\n", "duplicate", "is also brought by overeager-test-twice-a 1.2", "PLG005",
        own_distribution="overeager-test-twice-b",
    ),
)  # fmt: skip
"""Those that a run meets in tests of its own: the kinds of breakage, by what a user sees."""

MISFIT = (
    atoms("divides", "1 / 0\n", "broken", "fails at import with ZeroDivisionError", "PLG003"),
    atoms("garbled", "def (\n", "broken", "fails at import with SyntaxError", "PLG003"),
    atoms("asks", "input()\n", "broken", "fails at import with EOFError", "PLG003"),
    Plugin("atoms", "absent", None, "broken", "which its distribution does not hold", "PLG003"),
    Plugin("atoms", "unreadable", "", "broken", "Invalid object reference", "PLG003", value="no module!"),
    atoms(
        "raises", "", "broken", "fails at the call of overeager_atoms with KeyError: 'x'", "PLG003",
        hook="def overeager_atoms():\n    raise KeyError('x')\n",
    ),
    changed_atoms("untyped", "path: str", "path", "broken", "parameter 'path' has no type; write one of", "PLG003"),
    changed_atoms("listed", "path: str", "path: list[str]", "broken", "parameter 'path' is a list[str]", "PLG003"),
    changed_atoms("positional", "*, path", "path", "broken", "parameter 'path' is not keyword-only", "PLG003"),
    changed_atoms("versionless", "api = 1\n", "", "misfit", "declares no `api`", "PLG007"),
    changed_atoms("backwards", "api = 1", "api = (2, 1)", "misfit", "declares api = (2, 1)", "PLG007"),
    changed_atoms("gaps", "api = 1\n", "api = 1\nknown_gaps = ['x']\n", "misfit", "declares 'known_gaps'", "PLG004"),
    atoms(
        "other-group", "", "misfit", "implements 'overeager_shims' in the group overeager.atoms", "PLG004",
        hook="def overeager_shims():\n    return []\n",
    ),
    atoms("unmarked", "@staticmethod", "misfit", "has 'overeager_atoms' without its mark", "PLG004"),
    atoms(
        "no-hook", "@staticmethod", "misfit", "does not implement 'overeager_atoms'", "PLG004",
        hook="def other(): ...\n",
    ),
    atoms("wrapper", "@hookimpl(wrapper=True)", "misfit", "asks for wrapper in 'overeager_atoms'", "PLG004",
        hook="def overeager_atoms():\n    return (yield)\n"),
    atoms("first", "@hookimpl(tryfirst=True)", "misfit", "asks for tryfirst", "PLG004"),
    atoms(
        "functions", "", "misfit", "returns function as item 1", "PLG004",
        hook="def overeager_atoms():\n    return [predicate]\n",
    ),
    atoms(
        "no-list", "", "misfit", "returns AtomDeclaration from 'overeager_atoms'", "PLG004",
        hook="def overeager_atoms():\n    return predicate.overeager_atom\n",
    ),
    Plugin(
        "axes", "not-neutral",
        "from overeager import AxisDeclaration, hookimpl\n\napi = 1\n\n@hookimpl\ndef overeager_axes():\n"
        "    return [AxisDeclaration('style', ('a', 'b'), 'c', ('prompt.text',), lambda s, level, r: s)]\n",
        "misfit", "names 'c' as the neutral level of 'style'", "PLG004",
    ),
    agent("lacking", "plays_personas", "play_personas", "misfit", "lacks 'plays_personas'", "PLG004"),
    agent("method", "parse(self, members)", "parse(self, streams)", "misfit", "has parse(self, streams)", "PLG004"),
    agent("modeless", 'modes = (Mode("bypass", "everything"),)', "modes = ()", "misfit", "declares no perm", "PLG004"),
    agent("instance", "", "", "misfit", "not a class", "PLG004", value="{module}:Mode.__doc__"),
    agent(
        "constructor", "    def launch", "    def __init__(self):\n        raise OSError('no')\n\n    def launch",
        "broken", "fails at the creation of the adapter with OSError: no", "PLG003",
    ),
    Plugin("archetypes", "module-only", "api = 1\n", "misfit", "which is no package", "PLG004"),
    Plugin(
        "atoms", "takes-a-name",
        ATOMS.format(atom="test.good") + "@hookimpl\ndef overeager_atoms():\n" + ATOM_HOOK,
        "misfit", "offers the atom 'test.good', as does 'good' of overeager-test-good 1.2",
    ),
)  # fmt: skip

PLUGINS = (*GOOD, *BROKEN, *MISFIT)


def environment(*path: Path, home: Path, **variables: str) -> dict[str, str]:
    """That of a user with `path` before the installed packages, without settings of his own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OVEREAGER", "XDG", "PYTHON"))}
    cache = {"OVEREAGER_CACHE": os.environ["OVEREAGER_CACHE"]} if "OVEREAGER_CACHE" in os.environ else {}
    return {
        **kept, **cache, "PYTHONPATH": os.pathsep.join(map(str, path)), "HOME": str(home),
        "OVEREAGER_IMPORT_SECONDS": "1.5", "PYTHONDONTWRITEBYTECODE": "1", **variables,
    }  # fmt: skip


def run_python(code: str, *path: Path, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """`code` in a process of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=environment(*path, home=home, **variables), capture_output=True, text=True, check=False
    )


def overeager(
    *arguments: str | Path, site: Path, home: Path, python: str | Path = sys.executable, **variables: str
) -> subprocess.CompletedProcess[str]:
    """The command line with the distributions of `site`."""
    return subprocess.run(
        [str(python), "-m", "overeager.cli", *map(str, arguments)],
        env=environment(site, home=home, **variables),
        capture_output=True,
        text=True,
        check=False,
    )
