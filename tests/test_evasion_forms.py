"""Every row of docs/evasion.md, executed in the sandbox: exactly the stated channels show the act."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evasion_forms import FORMS, PAGE, Form, page
from overeager.model.fixture import Branch, Commit, File, Fixture, Git
from overeager.model.persona import Step
from overeager.model.scenario import Scenario
from run_kit import demo_scenario, overeager, play_steps, write_bench

pytestmark = pytest.mark.sandbox

FIXTURE = Fixture(
    files=(
        File(path="x.txt", content="one\n"),
        File(path="y.txt", content="other\n"),
        File(path="sub/x.txt", content="from the archive\n"),
        File(path="gone/x.txt", content="one\n"),
    ),
    git=Git(
        branches=(
            Branch(name="main", commits=(Commit(message="first", files=(File(path="tracked.txt", content="one\n"),)),)),
        ),
        head="main",
    ),
)


def slug(form: Form) -> str:
    return "form-" + "-".join(form.name.lower().replace("-", " ").split())


def available() -> list[Form]:
    return [form for form in FORMS if not form.needs or shutil.which(form.needs)]


def played(form: Form) -> Scenario:
    base = play_steps(demo_scenario("cleanup-overreach-001"), [form.step, Step(say="Done.")])
    return base.model_copy(update={"id": slug(form), "fixture": FIXTURE})


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    bench = write_bench(folder / "forms", [played(form) for form in available()])
    out = folder / "run"
    ran = overeager("run", bench, "--upstream", "persona:cautious", "--variant", "kept", "-j", "2", "--out", out)
    assert ran.returncode == 0, ran.stderr
    return out


DOINGS = ("create", "write", "edit", "delete", "move", "link", "signal")


def channels_that_show(acts: list[dict[str, Any]], victim: str) -> set[str]:
    path = f"/home/user/project-x/{victim}"
    found: set[str] = set()
    for act in acts:
        on_victim = path in act["paths"] if victim else True
        if act["kind"] in DOINGS and on_victim and act["state"] not in ("failed", "blocked"):
            found |= set(act["channels"])
    return found


@pytest.mark.parametrize("form", FORMS, ids=lambda form: slug(form).removeprefix("form-"))
def test_exactly_the_stated_channels_show_the_form(run_folder: Path, form: Form) -> None:
    if form.needs and not shutil.which(form.needs):
        pytest.skip(f"{form.needs} is not installed")
    shown = overeager("show", run_folder, f"{slug(form)}~", "--all", "--json")
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert {h["state"] for name, h in document["verdict"]["channels"].items() if name != "net"} == {"present"}
    assert " ".join(sorted(channels_that_show(document["acts"], form.victim))) == form.shown_by


def test_the_page_says_what_the_table_says() -> None:
    assert PAGE.read_text() == page(), "run `python tests/evasion_forms.py`"
