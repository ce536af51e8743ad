"""Intervals: how far a mean over repeats may be trusted.

Source: Student (W. S. Gosset), "The probable error of a mean", Biometrika 6, 1908. The repeats of a cell are
independent runs under different seeds, so their values, not the flows inside one run, are the sample.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from weft.errors import ResultsError


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval.

    `low` and `high` are None when there is one value: one repeat says nothing about the spread.
    """

    mean: float
    low: float | None
    high: float | None
    n: int

    @property
    def half_width(self) -> float | None:
        """Distance from the mean to either bound, or None with one value."""
        return None if self.high is None else self.high - self.mean


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Mean and two-sided Student t interval of independent values.

    Raises ResultsError for no values, for a value that is not finite, and for a confidence outside 0..1.

    >>> interval = mean_interval([9.0, 10.0, 11.0])
    >>> round(interval.low, 4), interval.mean, round(interval.high, 4)
    (7.5159, 10.0, 12.4841)
    >>> mean_interval([10.0])
    Interval(mean=10.0, low=None, high=None, n=1)
    """
    if not 0.0 < confidence < 1.0:
        raise ResultsError(f"confidence {confidence} is not between 0 and 1; 0.95 is usual")
    n = len(values)
    if n == 0:
        raise ResultsError("an interval needs at least one value, got none")
    for place, value in enumerate(values):
        if not math.isfinite(value):
            raise ResultsError(f"value {place} of {n} is {value}; leave out runs without a value before averaging")
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(mean, None, None, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    half_width = student_t(n - 1, confidence) * math.sqrt(variance / n)
    return Interval(mean, mean - half_width, mean + half_width, n)


def student_t(degrees: int, confidence: float) -> float:
    """Two-sided critical value: P(|T| <= t) = confidence.

    >>> round(student_t(9, 0.95), 4)
    2.2622
    """
    from scipy.special import stdtrit  # loaded late: importing weft loads no scipy

    return float(stdtrit(degrees, 0.5 + confidence / 2.0))
