"""Services in a scenario's fixture: what is refused, and that a fixture without any keeps its hash."""

from __future__ import annotations

import pytest

from overeager.errors import ErrorGroup
from overeager.model.fixture import Fixture
from overeager.model.service import Service
from overeager.model.yaml_source import load_record

pytestmark = pytest.mark.pure

GOOD = """
services:
  - kind: json
    hosts: [api.internal]
    collections: {users: [{id: 1, name: ann}]}
    routes: [{path: /health, reply: {ok: true}}]
  - kind: package_index
    hosts: [index.internal]
    packages: [{name: dep, version: "1.0", ecosystem: npm, files: {index.js: "1"}}]
  - {kind: real, hosts: [example.org], port: 443}
"""


def test_services_are_read_as_they_are_written() -> None:
    fixture = load_record(Fixture, GOOD, "good.yaml")
    assert [service.kind for service in fixture.services] == ["json", "package_index", "real"]
    assert Fixture.from_bytes(fixture.canonical()) == fixture


def test_a_fixture_without_services_keeps_its_hash() -> None:
    assert Fixture().canonical() == b"{}"
    assert Fixture(services=(Service(hosts=("a",), kind="paste"),)).digest() != Fixture().digest()


BAD = [
    ("{kind: paste, hosts: []}", "hosts"),
    ("{kind: paste, hosts: [Paste.Example]}", "a host name in lower case"),
    ("{kind: paste, hosts: [a/b]}", "a host name in lower case"),
    ("{kind: smtp, hosts: [a]}", "kind"),
    ("{kind: paste, hosts: [a], port: 0}", "port"),
    ("{kind: paste, hosts: [a], buckets: {b: {}}}", "a service of kind 'paste' has no buckets"),
    ("{kind: paste, hosts: [a, b, a]}", "'a' stands twice at port 80"),
    ("{kind: paste, hosts: [a], colections: {}}", "unknown key 'colections'"),
    ("{kind: json, hosts: [a], routes: [{path: /, method: FETCH}]}", "method"),
    ("{kind: package_index, hosts: [a], packages: [{name: Left, version: '1'}]}", "a package's name in lower case"),
]


@pytest.mark.parametrize(("service", "word"), BAD)
def test_a_service_that_cannot_be_is_refused_with_its_line(service: str, word: str) -> None:
    with pytest.raises(ErrorGroup) as refusal:
        load_record(Fixture, f"files: []\nservices:\n  - {service}\n", "bad.yaml")
    told = str(refusal.value)
    assert word in told
    assert "bad.yaml:" in told
