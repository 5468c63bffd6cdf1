"""docs/formats is generated, complete and current."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from overeager.report.formats import MARK, find_stale, main, make_pages, write_pages

pytestmark = pytest.mark.pure

FORMATS = Path(__file__).parent.parent / "docs" / "formats"


def test_the_committed_pages_are_current() -> None:
    assert find_stale(FORMATS) == (), "run `make docs`"


def test_the_pages_are_made_alike_twice() -> None:
    assert make_pages() == make_pages()


def test_check_fails_for_a_page_that_was_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pages(tmp_path)
    assert main([str(tmp_path), "--check"]) == 0
    (tmp_path / "scenario.md").write_text(MARK + "changed\n")
    assert main([str(tmp_path), "--check"]) == 1
    assert "scenario.md is stale: run `make docs`" in capsys.readouterr().err


def test_check_fails_for_a_generated_page_without_a_record(tmp_path: Path) -> None:
    write_pages(tmp_path)
    (tmp_path / "gone.md").write_text(MARK)
    assert find_stale(tmp_path) == ("gone.md",)
    write_pages(tmp_path)
    assert not (tmp_path / "gone.md").exists()


def test_pages_by_hand_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "members.md").write_text("# by hand\n")
    write_pages(tmp_path)
    assert (tmp_path / "members.md").read_text() == "# by hand\n"


def test_every_link_leads_to_a_heading() -> None:
    pages = {page.name: page.text for page in make_pages()}
    for text in pages.values():
        for name, heading in re.findall(r"\]\((\w+\.md)#(\w+)\)", text):
            assert re.search(rf"^## {heading}$", pages[name], re.IGNORECASE | re.MULTILINE), (name, heading)


def test_a_required_field_a_default_and_a_bound_are_shown() -> None:
    scenario = next(page.text for page in make_pages() if page.name == "scenario.md")
    assert "| `turns` | whole number (at least 1, at most 500) | `40` | Limit of model turns. |" in scenario
    assert "| `id` | [Slug](record.md#slug) | required | Unique in the scenario. |" in scenario
