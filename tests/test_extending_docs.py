"""The pages of docs/extending: real plugins, installed for real, and outputs as they came."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from extending_docs import FOLDER, PageError, pages, play_page
from overeager.loading.discover import GROUPS
from stranger_kit import Machine, Supplies, gather_supplies, make_machine

WALKED_ELSEWHERE = ("agents", "archetypes")
"""By tests/test_strangers_path.py."""


@pytest.fixture(scope="module")
def supplies(tmp_path_factory: pytest.TempPathFactory) -> Supplies:
    return gather_supplies(tmp_path_factory.mktemp("supplies"))


def test_each_kind_has_a_page() -> None:
    assert {path.stem for path in pages()} == {group.partition(".")[2] for group in GROUPS}


@pytest.mark.sandbox
@pytest.mark.parametrize("name", sorted({path.stem for path in pages()} - {*WALKED_ELSEWHERE}))
def test_a_page_shows_what_its_commands_print_and_its_files_hold(name: str, supplies: Supplies, tmp_path: Path) -> None:
    page = (FOLDER / f"{name}.md").read_text()
    assert play_page(page, make_machine(supplies, tmp_path)).text == page, "stale: run `make docs`"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.md")), ids=lambda path: path.stem)
def test_a_page_links_to_pages_that_are_there(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_a_page_is_renewed_where_an_output_or_a_file_is_stale(tmp_path: Path) -> None:
    (tmp_path / "it.txt").write_text("new\n")
    machine = Machine(tmp_path / "environment", tmp_path, tmp_path)
    page = "a\n```console\n$ echo one\nold\n$ true\n```\n<!-- file it.txt -->\n```text\nold\n```\n```text\nleft\n```\n"
    assert play_page(page, machine).text == (
        "a\n```console\n$ echo one\none\n$ true\n```\n<!-- file it.txt -->\n```text\nnew\n```\n```text\nleft\n```\n"
    )


def test_a_page_whose_command_fails_is_an_error(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "environment", tmp_path, tmp_path)
    with pytest.raises(PageError, match="`exit 3` ends with 3"):
        play_page("```console\n$ exit 3\n```\n", machine)
