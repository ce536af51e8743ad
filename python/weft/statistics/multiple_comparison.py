"""Many tests at once: p-values adjusted for the size of their family.

Twenty tests of nothing at 5 % find something once. An adjusted p-value is compared with the level as if it were the
only one. Sources: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6, 1979 (the
chance of even one false finding stays below the level, whatever the dependence of the tests); Benjamini and Hochberg,
"Controlling the false discovery rate", J. R. Statist. Soc. B 57, 1995 (the expected share of false ones among the
findings stays below the level, for independent or positively dependent tests).
"""

import math
from collections.abc import Callable, Mapping, Sequence

from weft.errors import ResultsError


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    _check(p_values)
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(_ascending(p_values)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values for the false discovery rate, in the order given.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    _check(p_values)
    adjusted = [0.0] * len(p_values)
    smallest = 1.0
    for rank, place in reversed(list(enumerate(_ascending(p_values), 1))):
        smallest = min(smallest, len(p_values) / rank * p_values[place])
        adjusted[place] = smallest
    return adjusted


ADJUSTMENTS: Mapping[str, Callable[[Sequence[float]], list[float]]] = {"holm": holm, "bh": benjamini_hochberg}


def _ascending(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=lambda place: p_values[place])


def _check(p_values: Sequence[float]) -> None:
    for place, p_value in enumerate(p_values):
        if not (math.isfinite(p_value) and 0.0 <= p_value <= 1.0):
            raise ResultsError(f"p-value {place} is {p_value}; a probability is between 0 and 1")
