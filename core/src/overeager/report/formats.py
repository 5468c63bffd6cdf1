"""Writes docs/formats from the records: `python -m overeager.report.formats docs/formats [--check]`."""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple, get_args, get_origin

import overeager.model
from overeager.model.ending import FLAGS
from overeager.model.record import Record
from overeager.model.vocabulary import WEIGHTS
from overeager.report.format_words import Named, describe_default, describe_field, describe_type, named_types

MARK = "<!-- Written by `make docs` from the records; edit those. -->\n"
"""First line of every generated page; a page without it is written by hand and left alone."""


class Page(NamedTuple):
    """One file."""

    name: str
    text: str


class _Chapter(NamedTuple):
    """One module of the model."""

    stem: str
    meaning: str
    records: tuple[type[Record], ...]
    words: tuple[Named, ...]


def make_pages() -> tuple[Page, ...]:
    """Every generated page, sorted by name; equal code gives equal bytes."""
    chapters = tuple(_chapters())
    links = _links(chapters)
    pages = [Page(f"{chapter.stem}.md", _render(chapter, links)) for chapter in chapters]
    return tuple(sorted([*pages, Page("README.md", _render_index(chapters))]))


def _chapters() -> Iterator[_Chapter]:
    for info in sorted(pkgutil.iter_modules(overeager.model.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"overeager.model.{info.name}")
        chapter = _Chapter(info.name, inspect.getdoc(module) or "", tuple(_records(module)), named_types(module))
        if chapter.records or chapter.words:
            yield chapter


def _records(module: ModuleType) -> Iterator[type[Record]]:
    """The records that `module` defines, as they stand in it, whole documents first."""
    own = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Record) and value.__module__ == module.__name__
    ]
    yield from sorted(
        (one for one in own if one is not Record), key=lambda one: "schema_version" not in one.model_fields
    )


def _links(chapters: Iterable[_Chapter]) -> Mapping[Any, str]:
    """What has a heading of its own, as a link to it."""
    links: dict[Any, str] = {}
    for chapter in chapters:
        links |= {record: _link(chapter.stem, record.__name__) for record in chapter.records}
        links |= {words.kind: _link(chapter.stem, words.name) for words in chapter.words}
    return links


def _link(stem: str, name: str) -> str:
    return f"[{name}]({stem}.md#{name.lower()})"


def _render(chapter: _Chapter, links: Mapping[Any, str]) -> str:
    parts = [f"{MARK}\n# {chapter.stem.capitalize()}\n\n{chapter.meaning}\n"]
    parts += [_render_record(record, links) for record in chapter.records]
    parts += [_render_words(words, links) for words in chapter.words]
    return "\n".join(parts)


def _render_record(record: type[Record], links: Mapping[Any, str]) -> str:
    head = f"## {record.__name__}\n\n{inspect.getdoc(record)}\n"
    if record.__pydantic_decorators__.model_serializers:
        return head  # its form on disk is not its fields; the docstring tells it
    rows = [
        (
            f"`{name}`",
            describe_field(field, links),
            describe_default(field),
            _meaning(field.description, field.annotation),
        )
        for name, field in record.model_fields.items()
    ]
    return f"{head}\n{_table(('field', 'type', 'default', 'meaning'), rows)}"


def _meaning(description: str | None, kind: Any) -> str:
    if description is None and inspect.isclass(kind) and issubclass(kind, Record):
        description = (inspect.getdoc(kind) or "").split("\n\n")[0]
    return " ".join((description or "").split())


def _render_words(words: Named, links: Mapping[Any, str]) -> str:
    head = f"## {words.name}\n\n" + (f"{words.meaning}\n\n" if words.meaning else "")
    if get_origin(words.kind) is not Literal:
        others = {kind: link for kind, link in links.items() if kind is not words.kind}
        return f"{head}{describe_type(words.kind, others)}\n"
    members: Sequence[str] = get_args(words.kind)
    if words.name == "Ending":
        rows = [(f"`{name}`", *(("no", "yes")[flag] for flag in FLAGS[name])) for name in FLAGS]
        return head + _table(("ending", "valid", "retried", "judged"), rows)
    if words.name == "Severity":
        return head + _table(("severity", "weight"), [(f"`{name}`", str(weight)) for name, weight in WEIGHTS.items()])
    return head + ", ".join(f"`{word}`" for word in members) + "\n"


def _render_index(chapters: Iterable[_Chapter]) -> str:
    rows = [(f"[{chapter.stem}]({chapter.stem}.md)", chapter.meaning.splitlines()[0]) for chapter in chapters]
    rows.append(("[members](members.md)", "The raw members of a bundle, by hand."))
    return f"{MARK}\n# Formats\n\nWhat lies on disk, record by record.\n\n{_table(('page', 'what it holds'), rows)}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def find_stale(folder: Path) -> tuple[str, ...]:
    """Names of generated pages in `folder` that differ from the records, are missing, or have no record any more."""
    pages = {page.name: page.text for page in make_pages()}
    stale = [name for name, text in pages.items() if _read(folder / name) != text]
    left_over = [path.name for path in folder.glob("*.md") if path.name not in pages and _read(path).startswith(MARK)]
    return tuple(sorted(stale + left_over))


def write_pages(folder: Path) -> None:
    """Make `folder` hold exactly the generated pages, beside those that are written by hand."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {page.name: page.text for page in make_pages()}
    for name in find_stale(folder):
        if name in pages:
            (folder / name).write_text(pages[name], encoding="utf-8")
        else:
            (folder / name).unlink()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 1 when `--check` finds a stale page, else 0."""
    parser = argparse.ArgumentParser(prog="python -m overeager.report.formats", description="Write docs/formats.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is stale")
    options = parser.parse_args(arguments)
    if not options.check:
        write_pages(options.folder)
        return 0
    stale = find_stale(options.folder)
    for name in stale:
        sys.stderr.write(f"{options.folder / name} is stale: run `make docs`\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
