"""Quantiles: the value below which a given share of the sample lies.

Source: Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50, 1996, type 7
(linear between order statistics; the default of R and numpy).
"""

import math
from collections.abc import Sequence

from weft.errors import ResultsError


def quantile(values: Sequence[float], share: float) -> float:
    """Quantile of a sample: 0.5 is the median, 0.99 the 99th percentile.

    Raises ResultsError for no values, a value that is not finite, and a share outside 0..1.

    >>> quantile([4.0, 1.0, 3.0, 2.0], 0.5)
    2.5
    """
    if not 0.0 <= share <= 1.0:
        raise ResultsError(f"share {share} is not between 0 and 1; the median is 0.5")
    if len(values) == 0:
        raise ResultsError("a quantile needs at least one value, got none")
    ordered = sorted(values)
    if not all(math.isfinite(value) for value in ordered):
        raise ResultsError("a quantile of values that are not finite; leave out unfinished flows first")
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
