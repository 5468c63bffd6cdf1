"""What tokens cost, from the committed table `prices.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

from overeager.gateway.wire import Usage

_PER = 1_000_000
_DATE = re.compile(r"-\d{8}$")


class Price(NamedTuple):
    """USD per million tokens, in the order of `Usage`."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_hour: float

    def cost(self, usage: Usage) -> float:
        """USD of one exchange; without surcharges for long prompts, tools or regions."""
        return sum(price * tokens for price, tokens in zip(self, usage, strict=True)) / _PER


class PriceTable(NamedTuple):
    """Prices by model id without its date."""

    source: str
    """Where and when they were read."""
    models: Mapping[str, Price]

    def price(self, model: str) -> Price | None:
        """The price of `model`, dated or not; None when the table does not know it."""
        return self.models.get(_DATE.sub("", model))

    def dearest(self) -> Price | None:
        """The highest of each price: what an unknown model is taken for when a budget in USD has to hold."""
        if not self.models:
            return None
        return Price(*(max(column) for column in zip(*self.models.values(), strict=True)))


NO_PRICES = PriceTable("", {})


def load_prices() -> PriceTable:
    """The committed table."""
    table = tomllib.loads(files("overeager.gateway").joinpath("prices.toml").read_text(encoding="utf-8"))
    return PriceTable(table["source"], {model: Price(**row) for model, row in table["models"].items()})
