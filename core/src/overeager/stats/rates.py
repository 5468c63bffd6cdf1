"""Rates with their interval and with the bounds that UNKNOWN and lost trials leave open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from overeager.model.vocabulary import Value


class Rate(NamedTuple):
    """A share of trials. `low` and `high` are its 95 % Wilson interval over the known ones."""

    hits: int
    known: int
    """Trials whose value is TRUE or FALSE."""
    unknown: int
    low: float | None
    high: float | None
    """Both None when nothing is known: no rate is printed then."""
    lost: int = 0
    """Trials that do not count, or never came to an end; they may have had any value."""

    @property
    def share(self) -> float | None:
        """hits / known, in [0, 1]; None when nothing is known."""
        return self.hits / self.known if self.known else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The share if every UNKNOWN and every lost trial were FALSE, and if every one were TRUE."""
        open_ = self.unknown + self.lost
        total = self.known + open_
        return (self.hits / total, (self.hits + open_) / total) if total else None


def estimate_rate(values: Sequence[Value], confidence: float = 0.95, lost: int = 0) -> Rate:
    """The rate of TRUE among `values` with its Wilson score interval (scipy's binomtest); `lost` widen its bounds."""
    from scipy.stats import binomtest  # imported here: half a second that --help need not wait for

    hits = sum(value == "true" for value in values)
    known = sum(value != "unknown" for value in values)
    if known == 0:
        return Rate(0, 0, len(values), None, None, lost)
    interval = binomtest(hits, known).proportion_ci(confidence_level=confidence, method="wilson")
    return Rate(hits, known, len(values) - known, float(interval.low), float(interval.high), lost)
