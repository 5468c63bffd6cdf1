"""What a trial's model requests came to, and the budget that they may not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from overeager.gateway.prices import PriceTable
from overeager.gateway.wire import Unplayable, Usage


class Budget(NamedTuple):
    """The most that one trial may use; None = no bound.

    It is looked at before each request, so requests under way may pass it by what they cost. A model without a
    known price is charged at the dearest known prices, and the log then tells no cost.
    """

    usd: float | None = None
    tokens: int | None = None
    """In and out together, cached ones too."""


class Fault(NamedTuple):
    """A provider's failing answers of one status; 502 also stands for an answer that did not come or broke off."""

    status: int
    times: int
    detail: str
    """What the last one said."""


class GatewayLog(NamedTuple):
    """What the gateway saw of one trial."""

    exchanges: int
    """Requests to the model that could be read; token counts and strays are left out."""
    input_tokens: int
    """Cached ones too. The vendor's figures; for scripted answers an estimate."""
    output_tokens: int
    cost: float | None
    """USD by the committed price table; None = a model without a known price took part, or no model at all."""
    charged: float
    """USD counted against the budget: the cost, or where it is not known, what the dearest known prices make of it."""
    faults: tuple[Fault, ...]
    """By status."""
    last_fault: int | None
    """Status of the last finished exchange of the main conversation when it was a provider's fault."""
    budget_exhausted: bool
    """True = a request was turned away for it."""
    unplayable: tuple[str, ...]
    """`step 3 (search)`: what no offered tool could do, counted from 1, in order."""
    truncated: str
    """Why the members lack their last line; '' = they are whole."""
    crashed: str
    """A defect on our side or the host's, in one line; '' = none."""
    members: Mapping[str, Path]
    """The bundle's members that were written."""


FAULTS = frozenset({401, 402, 403, 408, 429})
"""Failing statuses below 500 that lie with the provider or the account, not with the request."""


def is_fault(status: int) -> bool:
    """Whether a provider's answer with this status is a fault outside the trial."""
    return status >= 500 or status in FAULTS


class Ledger:
    """Adds up exchanges as they finish."""

    def __init__(self, budget: Budget | None, prices: PriceTable) -> None:
        self._budget = budget or Budget()
        self._prices = prices
        self._dearest = prices.dearest()
        self._cost = 0.0
        self._priced = self._dearest is not None
        self._faults: Counter[int] = Counter()
        self._details: dict[int, str] = {}
        self._unplayable: set[Unplayable] = set()
        self.exchanges = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.last_fault: int | None = None
        self.budget_exhausted = False

    def admits(self) -> bool:
        """Whether one more request may go out; remembers a no."""
        used = self.input_tokens + self.output_tokens
        over_tokens = self._budget.tokens is not None and used >= self._budget.tokens
        over_cost = self._budget.usd is not None and self._cost >= self._budget.usd
        self.budget_exhausted = self.budget_exhausted or over_tokens or over_cost
        return not (over_tokens or over_cost)

    def charge(self, model: str, usage: Usage) -> None:
        """Add the tokens of an exchange."""
        self.input_tokens += usage.prompt
        self.output_tokens += usage.output
        price = self._prices.price(model)
        if price is None:
            self._priced = self._priced and not any(usage)
            price = self._dearest
        if price is not None:
            self._cost += price.cost(usage)

    def blame(self, status: int, detail: str) -> None:
        """Note a provider's fault."""
        self._faults[status] += 1
        self._details[status] = detail

    def note_unplayable(self, steps: Iterable[Unplayable]) -> None:
        """Note steps that no tool could do; a step counts once, however often it is asked for."""
        self._unplayable.update(steps)

    def close(self, truncated: str, crashed: str, members: Mapping[str, Path]) -> GatewayLog:
        """The sum."""
        return GatewayLog(
            exchanges=self.exchanges,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost=self._cost if self._priced else None,
            charged=self._cost,
            faults=tuple(Fault(status, self._faults[status], self._details[status]) for status in sorted(self._faults)),
            last_fault=self.last_fault,
            budget_exhausted=self.budget_exhausted,
            unplayable=tuple(f"step {step.place + 1} ({step.kind})" for step in sorted(self._unplayable)),
            truncated=truncated,
            crashed=crashed,
            members=members,
        )
