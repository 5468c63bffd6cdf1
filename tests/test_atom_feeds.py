"""What feeds an atom: found by asking it, over examples that leave no kind of a shim rule out."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterable

import pytest

from overeager.contract.evidence import AtomDeclaration, Evidence, Witness, atom
from overeager.contract.registry import Registry
from overeager.contract.shim import Reading, ShimRule
from overeager.loading.registry import load_registry
from overeager.model.vocabulary import KINDS
from overeager.report.feeds import Feeds, find_feeds
from run_kit import overeager

pytestmark = pytest.mark.pure

OPTIONS = [f"-{letter}" for letter in string.ascii_letters]
WORDS = "f g d/ a.txt http://h/f host:f --delete --output --rm --remove --hard - if=f of=f --in-place --files -rf"


@pytest.fixture(scope="module")
def registry() -> Registry:
    groups = ("overeager.atoms", "overeager.shims", "overeager.agents")
    return load_registry(groups, agents=("claude-code", "scripted"))


@pytest.fixture(scope="module")
def rules(registry: Registry) -> dict[str, ShimRule]:
    return {command: rule for command, (rule, _) in registry.shims.items()}


def kinds(rule: ShimRule, calls: Iterable[tuple[str, ...]]) -> set[str]:
    return {part.kind for argv in calls for part in rule.read(argv, "/w") if isinstance(part, Reading)}


def test_every_example_calls_its_own_command(rules: dict[str, ShimRule]) -> None:
    assert {rule.command for rule in rules.values() for argv in rule.examples if argv[0] != rule.command} == set()


def test_no_call_reads_as_a_kind_that_no_example_shows(rules: dict[str, ShimRule]) -> None:
    """Calls drawn from the words of the examples and from options."""
    draw = random.Random(2605)
    everything = sorted({word for rule in rules.values() for argv in rule.examples for word in argv[1:]})
    for command, rule in rules.items():
        own = [word for argv in rule.examples for word in argv[1:]]
        pool = [*own * 8, *OPTIONS, *WORDS.split(), *everything]
        calls = [(command, *draw.choices(pool, k=draw.randint(0, 5))) for _ in range(1500)]
        assert kinds(rule, calls) <= kinds(rule, rule.examples), command


def feeds(registry: Registry, name: str) -> Feeds:
    return find_feeds(registry.atoms[name][0], registry)


def test_a_reading_atom_is_fed_by_what_reads(registry: Registry) -> None:
    found = feeds(registry, "file.read")
    assert {"cat", "grep", "python3"} <= set(found.shims)
    assert not {"rm", "mkdir", "chmod"} & {*found.shims, *found.texts}
    assert {"head", "tar"} <= set(found.texts)
    assert found.tools["claude-code"] == ("Bash (by its text)", "NotebookRead", "Read")
    assert found.tools["scripted"] == ("read", "shell (by its text)")


def test_what_an_atom_asks_of_a_command_counts(registry: Registry) -> None:
    assert (feeds(registry, "git.ran").shims, feeds(registry, "git.ran").texts) == (("git",), ())
    assert feeds(registry, "privilege.raised").shims == ("sudo",)
    assert set(feeds(registry, "command.ran").shims) == {c for c, (rule, _) in registry.shims.items() if rule.shimmed}


def test_an_atom_that_only_snapshots_show_is_fed_by_texts_for_attempts_alone(registry: Registry) -> None:
    found = feeds(registry, "fs.deleted")
    assert found.shims == ()
    assert {"rm", "git", "find", "mv"} <= set(found.texts)
    assert feeds(registry, "fs.exists") == Feeds((), (), (), {})


@pytest.mark.parametrize("name", ["net.connected", "net.sent", "process.signalled", "archive.packed", "secret.copied"])
def test_an_atom_that_another_channel_shows_has_no_feed(registry: Registry, name: str) -> None:
    assert feeds(registry, name) == Feeds((), (), (), {})


def test_stand_ins_feed_the_atom_on_them(registry: Registry) -> None:
    found = feeds(registry, "stand_in.changed")
    assert found.stand_ins == tuple(sorted(registry.stand_ins))
    assert found.shims == ()


@atom("toy.mode", category="files changed", shown_by=("shim",))
def toy(evidence: Evidence, *, path: str) -> list[Witness]:
    """A mode was changed."""
    return evidence.acts("mode", path=path)


def test_a_strangers_atom_is_fed_by_exactly_the_commands_that_show_its_kind(registry: Registry) -> None:
    declared: AtomDeclaration = toy.overeager_atom  # type: ignore[attr-defined]  # what `@atom` leaves
    rules = {command: rule for command, (rule, _) in registry.shims.items()}
    showing = [command for command, rule in rules.items() if rule.shimmed and "mode" in kinds(rule, rule.examples)]
    assert find_feeds(declared, registry) == Feeds(tuple(sorted(showing)), (), (), {})


def test_declared_tools_read_as_kinds_of_the_vocabulary(registry: Registry) -> None:
    for adapter, _ in registry.agents.values():
        tools = getattr(adapter, "tools", {})
        assert tools
        assert {kind for kinds in tools.values() for kind in kinds} <= set(KINDS)


def test_explain_names_them() -> None:
    told = overeager("atoms", "explain", "file.searched").stdout
    assert "  shim rules:   git, grep\n" in told
    assert "Grep" in told
    found = json.loads(overeager("atoms", "explain", "file.searched", "--json").stdout)
    assert found["feeds"]["shims"] == ["git", "grep"]
