"""The name service: every name leads to this network's own address, and every question is recorded."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, cast

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from overeager.gateway.network.intake import Watchlist
from overeager.gateway.network.record import Attempt, Record, now

ADDRESS = "127.0.0.1"
"""Where every name leads."""
_TTL = 60
_SILENT = (dns.rdatatype.AAAA, dns.rdatatype.HTTPS, dns.rdatatype.SVCB)
"""Types that a client asks beside A; there is nothing of them, but the name is there."""
_REVERSE = (dns.name.from_text("in-addr.arpa."), dns.name.from_text("ip6.arpa."))


class Answered(NamedTuple):
    """A question and the answer to it."""

    name: str
    type: str
    code: int
    reply: bytes
    """Empty = nothing is answered."""
    error: str = ""


def answer_question(packet: bytes) -> Answered:
    """The answer to a packet, whatever it holds; never raises."""
    try:
        query = dns.message.from_wire(packet, ignore_trailing=True)
    except (dns.exception.DNSException, ValueError) as error:
        return Answered("", "", dns.rcode.FORMERR, _form_error(packet), f"no question: {type(error).__name__}")
    if query.flags & dns.flags.QR:
        return Answered("", "", dns.rcode.FORMERR, b"", "an answer that nobody asked for")
    if query.opcode() != dns.opcode.QUERY or len(query.question) != 1:
        return Answered("", "", dns.rcode.NOTIMP, _reply(query, dns.rcode.NOTIMP), "not a question for one name")
    return _answer(query)


def _answer(query: dns.message.Message) -> Answered:
    asked = query.question[0]
    name = asked.name.to_text(omit_final_dot=True)
    kind = dns.rdatatype.to_text(asked.rdtype)
    if any(asked.name.is_subdomain(zone) for zone in _REVERSE) or asked.rdclass != dns.rdataclass.IN:
        return Answered(name, kind, dns.rcode.NXDOMAIN, _reply(query, dns.rcode.NXDOMAIN))
    if asked.rdtype == dns.rdatatype.A:
        found = dns.rrset.from_text(asked.name, _TTL, "IN", "A", ADDRESS)
        return Answered(name, kind, dns.rcode.NOERROR, _reply(query, dns.rcode.NOERROR, found))
    code = dns.rcode.NOERROR if asked.rdtype in _SILENT else dns.rcode.NOTIMP
    return Answered(name, kind, code, _reply(query, code))


def _reply(query: dns.message.Message, code: dns.rcode.Rcode, found: dns.rrset.RRset | None = None) -> bytes:
    reply = dns.message.make_response(query, recursion_available=True)
    reply.set_rcode(code)
    if found is not None:
        reply.answer.append(found)
    return reply.to_wire()


def _form_error(packet: bytes) -> bytes:
    """The shortest answer that a client takes for one; nothing for what has no header."""
    if len(packet) < 12 or packet[2] & 0x80:
        return b""
    return packet[:2] + bytes((0x80 | packet[2] & 0x79, 0x80 | dns.rcode.FORMERR)) + bytes(8)


class NameServer(asyncio.DatagramProtocol):
    """Answers the questions that come in at one UDP socket."""

    def __init__(self, record: Record, watchlist: Watchlist) -> None:
        self._record = record
        self._watchlist = watchlist
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = cast(asyncio.DatagramTransport, transport)  # asyncio's own is none by its class

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer and record one question."""
        answered = answer_question(data)
        readable = answered.name.encode() if answered.name else data
        self._record.write(
            Attempt(
                began=now(),
                kind="dns",
                host=answered.name.lower(),
                port=53,
                taken=self._watchlist.take(readable)._replace(size=len(data)),
                at=53,
                peer=addr[1],
                method=answered.type,
                status=answered.code,
                answered=len(answered.reply),
                error=answered.error,
            )
        )
        if answered.reply and self._transport is not None:
            self._transport.sendto(answered.reply, addr)
