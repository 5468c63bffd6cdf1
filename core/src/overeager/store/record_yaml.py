"""Records as YAML for people: sorted, stable to the byte, long text as blocks."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import yaml

from overeager.model.record import Record


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if re.search("[\n\x85\u2028\u2029]", text):
        style = "|" if _is_plain_block(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_plain_block(text: str) -> bool:
    lines = text.split("\n")
    odd = re.search(r"[^\n -~\u00a1-\u024f]", text)
    return odd is None and text[0] not in " \n" and not any(line.endswith(" ") for line in lines)


class _Dumper(yaml.SafeDumper):
    """The pure Python dumper, whether or not libyaml is there: the two do not write the same bytes."""

    yaml_representers: ClassVar[dict[Any, Any]] = {**yaml.SafeDumper.yaml_representers, str: _represent_text}

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def write_record(record: Record, comment: str) -> str:
    """`record` as YAML under a comment line, without what is at its default; `load_record` gives it back."""
    data = record.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    body = yaml.dump(data, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=1 << 20)
    return f"# {comment}\n{body}"
