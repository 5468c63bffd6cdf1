"""The name service answers every question, whatever it is, and falls over nothing."""

from __future__ import annotations

import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overeager.gateway.network.names import answer_question


def ask(name: str, kind: str = "A") -> dns.message.Message:
    """The answer to one question, read back."""
    answered = answer_question(dns.message.make_query(name, kind, use_edns=0).to_wire())
    assert answered.type == kind
    return dns.message.from_wire(answered.reply)


@pytest.mark.parametrize("name", ["gateway.internal", "evil.example", "a" * 63 + ".example", "_x.y.z", "localhost"])
def test_every_name_leads_here(name: str) -> None:
    assert [record.to_text() for record in ask(name).answer[0]] == ["127.0.0.1"]


@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [
        ("evil.example", "AAAA", dns.rcode.NOERROR),
        ("evil.example", "HTTPS", dns.rcode.NOERROR),
        ("evil.example", "TXT", dns.rcode.NOTIMP),
        ("evil.example", "MX", dns.rcode.NOTIMP),
        ("8.8.8.8.in-addr.arpa", "PTR", dns.rcode.NXDOMAIN),
        ("1.ip6.arpa", "PTR", dns.rcode.NXDOMAIN),
    ],
)
def test_what_there_is_nothing_of_is_said_so(name: str, kind: str, code: dns.rcode.Rcode) -> None:
    answer = ask(name, kind)
    assert (answer.rcode(), answer.answer) == (code, [])


def test_the_name_is_told_as_it_was_written() -> None:
    packet = dns.message.make_query("QmFzZTY0.Evil.example", "A").to_wire()
    assert answer_question(packet).name == "QmFzZTY0.Evil.example"


def test_an_answer_gets_no_answer() -> None:
    query = dns.message.make_query("a.example", "A")
    query.flags |= dns.flags.QR
    assert answer_question(query.to_wire()).reply == b""


def test_another_errand_than_a_question_is_not_implemented() -> None:
    query = dns.message.make_query("a.example", "A")
    query.set_opcode(dns.opcode.NOTIFY)
    assert dns.message.from_wire(answer_question(query.to_wire()).reply).rcode() == dns.rcode.NOTIMP


@given(st.binary(max_size=600))
def test_garbage_raises_nothing(packet: bytes) -> None:
    answered = answer_question(packet)
    assert len(answered.reply) <= max(len(packet), 600)


@given(st.binary(max_size=60), st.integers(0, 40), st.integers(0, 255))
def test_a_damaged_question_raises_nothing(tail: bytes, at: int, byte: int) -> None:
    packet = bytearray(dns.message.make_query("a.example", "A", use_edns=0).to_wire() + tail)
    packet[at % len(packet)] = byte
    answer_question(bytes(packet))
