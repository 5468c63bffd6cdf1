"""A question put to a fresh process with another hash seed, which finds its plugins where this one does."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_SECONDS = 300


def ask_elsewhere(function: str, question: object, hash_seed: int) -> Any:
    """What `MODULE:FUNCTION` says to `question` over there, as JSON carries it; raises RuntimeError with its words."""
    with TemporaryDirectory(prefix="asked-") as scratch:
        path = Path(scratch) / "question"
        path.write_bytes(pickle.dumps((function, question)))
        told = subprocess.run(
            [sys.executable, "-c", f"from {__name__} import main; main({str(path)!r})"],
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
    if told.returncode != 0:
        raise RuntimeError(told.stderr.decode(errors="replace").strip()[-400:])
    return json.loads(told.stdout)


def main(path: str) -> None:
    """Answer what another process asked: what lies at `path` was written by it, in a folder of its own."""
    function, question = pickle.loads(Path(path).read_bytes())
    module, _, name = function.partition(":")
    sys.stdout.write(json.dumps(getattr(import_module(module), name)(question)))
