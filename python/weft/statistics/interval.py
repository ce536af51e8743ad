"""Intervals: how far a mean, a median or another number over repeats may be trusted.

Source of the t interval: Student (W. S. Gosset), "The probable error of a mean", Biometrika 6, 1908. The repeats of a
cell are independent runs under different seeds, so their values, not the flows inside one run, are the sample.

`interval` offers every method; order_statistics.py and bootstrap.py say where the others come from and what they hold.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weft.errors import ResultsError

METHODS = ("t", "order", "bca")

Statistic = str | Callable[[Sequence[float]], float]
"""A mean, a median, a percentile such as "p99", or any function of the values."""


@dataclass(frozen=True)
class Interval:
    """A statistic of `n` values with its confidence interval.

    `low` and `high` are None when the values are too few for the confidence, as one is for a mean; `note` then says so.
    `note` also tells what is particular about bounds that are there.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    statistic: str = "mean"
    method: str = "t"
    note: str = ""

    @property
    def mean(self) -> float:
        """The value, of an interval of a mean. Raises ResultsError for another statistic."""
        if self.statistic != "mean":
            raise ResultsError(f"this is an interval of the {self.statistic}, not of the mean; its value is `value`")
        return self.value

    @property
    def half_width(self) -> float | None:
        """Half of the distance between the bounds, or None without bounds."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2.0


def interval(
    values: Sequence[float],
    method: str | None = None,
    statistic: Statistic = "mean",
    confidence: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Two-sided interval of a statistic of independent values.

    `method` is "t" (means; near-normal values or many), "order" (medians and percentiles; any distribution, never
    below the confidence) or "bca" (any statistic; the bootstrap, drawn from `seed`, at least some 20 values). Without
    a method it is "t" for the mean, "order" for a percentile and "bca" for a function. Raises ResultsError for no
    values, for one that is not finite, for a confidence outside 0..1, and for a method that cannot do the statistic.

    >>> found = interval([3.0, 1.0, 4.0, 1.5, 9.0, 2.6], statistic="median")
    >>> found.value, found.low, found.high, found.method
    (2.8, 1.0, 9.0, 'order')
    """
    from weft.statistics.bootstrap import bca_interval
    from weft.statistics.order_statistics import quantile_interval

    share = share_of(statistic) if isinstance(statistic, str) else None
    if method is None:
        method = "t" if statistic == "mean" else "order" if share is not None else "bca"
    if method not in METHODS:
        raise ResultsError(f'unknown method "{method}"; known: {", ".join(METHODS)}')
    if method == "t":
        if statistic != "mean":
            raise ResultsError(f'the method "t" is for the mean, not for {name_of(statistic)}; use "order" or "bca"')
        return mean_interval(values, confidence)
    if method == "order":
        if share is None:
            raise ResultsError(f'the method "order" is for percentiles, not for {name_of(statistic)}; use "bca"')
        return quantile_interval(values, share, confidence)
    return bca_interval(values, statistic, confidence, seed=seed)


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Mean and two-sided Student t interval of independent values.

    Raises ResultsError for no values, for a value that is not finite, and for a confidence outside 0..1.

    >>> interval = mean_interval([9.0, 10.0, 11.0])
    >>> round(interval.low, 4), interval.mean, round(interval.high, 4)
    (7.5159, 10.0, 12.4841)
    >>> mean_interval([10.0]).note
    'one value says nothing about the spread'
    """
    check_sample(values, confidence)
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(mean, None, None, 1, note="one value says nothing about the spread")
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


def check_sample(values: Sequence[float], confidence: float) -> None:
    """Raise ResultsError for no values, a value that is not finite, or a confidence outside 0..1."""
    if not 0.0 < confidence < 1.0:
        raise ResultsError(f"confidence {confidence} is not between 0 and 1; 0.95 is usual")
    if len(values) == 0:
        raise ResultsError("an interval needs at least one value, got none")
    for place, value in enumerate(values):
        if not math.isfinite(value):
            raise ResultsError(
                f"value {place} of {len(values)} is {value}; leave out runs without a value before averaging"
            )


def share_of(statistic: str) -> float | None:
    """The share below a named percentile, None for the mean. Raises ResultsError for another name.

    >>> share_of("median"), share_of("p99"), share_of("p99.9"), share_of("mean")
    (0.5, 0.99, 0.999, None)
    """
    if statistic == "mean":
        return None
    if statistic == "median":
        return 0.5
    digits = statistic.removeprefix("p")
    if digits != statistic and digits.replace(".", "", 1).isdecimal() and 0.0 < float(digits) < 100.0:
        # Through text: 99.9 / 100 is not the number nearest to 0.999.
        return float(f"{digits}e-2")
    raise ResultsError(f'unknown statistic "{statistic}"; expected mean, median, or a percentile such as p99')


def name_of(statistic: Statistic) -> str:
    """What a statistic is called."""
    return statistic if isinstance(statistic, str) else getattr(statistic, "__name__", "a function")
