"""Fairness: one number for how evenly something is shared.

Source: Jain, Chiu, Hawe, "A quantitative measure of fairness and discrimination", DEC TR-301, 1984.
"""

import math
from collections.abc import Sequence

from weft.errors import ResultsError


def jain(values: Sequence[float]) -> float:
    """Jain index: (sum x)^2 / (n sum x^2), from 1/n (one takes all) to 1 (all the same).

    Nobody got anything counts as 1: all have the same. Raises ResultsError for no values, and for a negative or
    not finite one.

    >>> jain([1.0, 1.0, 0.0, 0.0])
    0.5
    """
    if len(values) == 0:
        raise ResultsError("the Jain index needs at least one share, got none")
    for place, value in enumerate(values):
        if not (math.isfinite(value) and value >= 0.0):
            raise ResultsError(f"share {place} is {value}; the Jain index is defined for finite shares of at least 0")
    largest = max(values)
    if largest == 0.0:
        return 1.0
    # Relative to the largest: squares of tiny shares would vanish, of huge ones overflow.
    shares = [value / largest for value in values]
    return math.fsum(shares) ** 2 / (len(shares) * math.fsum(share * share for share in shares))
