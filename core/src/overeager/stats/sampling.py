"""Stratified samples, each item with the probability by which it was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Drawn(NamedTuple):
    """One item of a sample."""

    item: str
    stratum: str
    probability: float
    """With which an item of its stratum was drawn; in (0, 1]."""


def draw(strata: Mapping[str, Sequence[str]], size: int, seed: int) -> list[Drawn]:
    """`size` items (or all there are), one from each stratum first and the rest in proportion, in a random order.

    The same arguments give the same sample. Raises ValueError for a size below the number of strata.
    """
    import numpy as np

    filled = {name: sorted(items) for name, items in sorted(strata.items()) if items}
    if size < len(filled):
        raise ValueError(f"{size} items cannot hold one of each of {len(filled)} strata")
    chance = np.random.default_rng(seed)
    shares = allocate({name: len(items) for name, items in filled.items()}, size)
    drawn = [
        Drawn(items[index], name, shares[name] / len(items))
        for name, items in filled.items()
        for index in sorted(chance.choice(len(items), shares[name], replace=False).tolist())
    ]
    return [drawn[index] for index in chance.permutation(len(drawn)).tolist()]


def allocate(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """How many of each stratum: one of each, the rest by largest remainder, never more than there are."""
    left = {name: size - 1 for name, size in sizes.items()}
    rest = min(total - len(sizes), sum(left.values()))
    whole = sum(left.values())
    exact = {name: rest * size / whole if whole else 0.0 for name, size in left.items()}
    given = {name: int(share) for name, share in exact.items()}
    short = rest - sum(given.values())
    for name in sorted(exact, key=lambda name: (given[name] - exact[name], name))[:short]:
        given[name] += 1
    return {name: 1 + extra for name, extra in given.items()}
