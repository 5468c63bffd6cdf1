"""One request to the gateway from its arrival to its place in the record and the sum."""

from __future__ import annotations

import time

from overeager.contract.agent import Classified
from overeager.gateway.ledger import Ledger, is_fault
from overeager.gateway.recorder import Exchange
from overeager.gateway.upstream import Inquiry
from overeager.gateway.wire import ModelRequest, Response, Usage


class Course:
    """What is known of a request while it runs."""

    def __init__(self, inquiry: Inquiry, host: str, at: int = 0, peer: int = 0) -> None:
        self.began = time.monotonic()
        self.inquiry = inquiry
        self.host = host
        self.at = at
        self.peer = peer
        self.raw = b""
        """The body, until it is read as a request to the model."""
        self.request: ModelRequest | None = None
        self.classified = Classified("main", "")
        self.status = 0
        self.response = Response(None, Usage())
        self.error = ""
        self._ours = False
        self._cut = False

    def break_off(self, why: str) -> None:
        """Note an end that no upstream is to blame for."""
        self.error, self._ours = self.error or why, True

    def cut_short(self, why: str) -> None:
        """Note that the upstream's answer broke off."""
        self.error, self._cut = why, True

    def enter(self, ledger: Ledger, *, remote: bool) -> None:
        """Add the exchange to the sum, once it is over; `remote` = its failures lie with a provider."""
        if self.request is None:
            return
        ledger.charge(self.request.model, self.response.usage)
        fault = self._fault() if remote and not self._ours else None
        if fault is not None:
            ledger.blame(fault, self._said())
        if self.classified.role == "main":
            ledger.last_fault = fault

    def exchange(self) -> Exchange:
        """What is recorded of it, once it is over."""
        usage = self.response.usage if self.request is not None else Usage()
        return Exchange(
            began=self.began,
            ended=time.monotonic(),
            method=self.inquiry.method,
            path=self.inquiry.path,
            host=self.host,
            role="none" if self.request is None else self.classified.role,
            conversation=self.classified.conversation,
            status=self.status,
            request=self.request,
            raw=self.raw,
            response=self.response.message,
            input_tokens=usage.prompt,
            output_tokens=usage.output,
            error=self._said(),
            at=self.at,
            peer=self.peer,
        )

    def _fault(self) -> int | None:
        if self._cut:
            return 502
        status = self.status if self.status >= 400 else self.response.fault
        return status if status is not None and is_fault(status) else None

    def _said(self) -> str:
        return self.error or self.response.error
