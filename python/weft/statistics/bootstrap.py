"""The BCa bootstrap: an interval for any statistic of a sample, by drawing from the sample itself.

Source: Efron, "Better bootstrap confidence intervals", J. Am. Statist. Assoc. 82, 1987; Efron and Tibshirani, "An
Introduction to the Bootstrap", 1993, chapter 14: percentiles of the resampled statistic, corrected for its bias and
for how its spread changes with its value (the acceleration, from leaving out one value at a time).

What a 95 % interval covers, measured with 999 resamples in 2000 replications (standard error 0.5 %; from n = 100 on
in 6000 to 12000, 0.3 %). Mean of n = 10, 20, 30, 50, 100, 300 values: normal 90.5, 93.2, 93.5, 93.5, 94.9, 94.8;
exponential 86.2, 91.9, 92.6, 93.7, 93.8, 94.5; lognormal (sigma 1) 82.6, 86.5, 90.3, 89.8, 92.0 up to 100. Median of
n = 10, 20, 30, 50, 100: normal 93.0, 94.0, 93.8, 94.5, 93.8; lognormal 94.0, 94.2, 94.2, 94.5, 94.6. So with ten
repeats take "t" for a mean and "order" for a median; the bootstrap is for what they cannot do.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from weft.errors import ResultsError
from weft.statistics.interval import Interval, Statistic, check_sample, name_of, share_of

if TYPE_CHECKING:
    from weft.statistics.design import Array

RESAMPLES = 9999

AT_ONCE = 2_000_000
"""Values that are drawn at once: bounds the memory."""


def bca_interval(
    values: Sequence[float],
    statistic: Statistic = "mean",
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Statistic of independent values with its BCa interval; equal seeds give equal bounds.

    `statistic` is a name ("mean", "median", "p99") or a function of a sequence, in any order, that returns a number.
    Without bounds for fewer than three values. Raises ResultsError for no values, for one that is not finite, for a
    confidence outside 0..1, for fewer than 100 resamples, and for a function that gives no finite number.

    >>> found = bca_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 30.0])
    >>> found.value, found.low < 7.25 < found.high, found.high - 7.25 > 7.25 - found.low
    (7.25, True, True)
    """
    import numpy as np
    from scipy.special import ndtr, ndtri

    check_sample(values, confidence)
    if resamples < 100:
        raise ResultsError(f"{resamples} resamples give no tails; expected at least 100, {RESAMPLES} is usual")
    name, n = name_of(statistic), len(values)
    sample = np.sort(np.asarray(values, dtype=np.float64))
    of_rows = _row_wise(statistic)
    value = float(of_rows(sample[None])[0])
    if n < 3:
        return Interval(value, None, None, n, name, "bca", f"{n} values are too few to draw from; it takes 3")
    if sample[0] == sample[-1]:
        return Interval(value, value, value, n, name, "bca", "all values are the same")
    random = np.random.default_rng(seed)
    at_once = max(1, AT_ONCE // n)
    drawn = np.sort(
        np.concatenate(
            [
                of_rows(sample[random.integers(n, size=(min(at_once, resamples - start), n))])
                for start in range(0, resamples, at_once)
            ]
        )
    )
    # Ties count half: a median takes few values.
    less, equal = np.searchsorted(drawn, value, "left"), np.searchsorted(drawn, value, "right")
    bias = ndtri((less + equal) / 2.0 / resamples)
    if not np.isfinite(bias):
        note = f"every resample lies on one side of the {name}, so it has no bootstrap interval"
        return Interval(value, None, None, n, name, "bca", note)
    acceleration = _acceleration(_left_out(sample, statistic, of_rows))
    bounds = []
    for tail in ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0):
        z = bias + ndtri(tail)
        share = ndtr(bias + z / (1.0 - acceleration * z))
        bounds.append(float(np.quantile(drawn, share)))
    return Interval(value, bounds[0], bounds[1], n, name, "bca", f"{resamples} resamples")


def _row_wise(statistic: Statistic) -> Callable[["Array"], "Array"]:
    """The statistic of every row of an array, shape (rows, n) to (rows,)."""
    import numpy as np

    if not isinstance(statistic, str):
        function = statistic

        def called(rows: "Array") -> "Array":
            found = np.array([float(function(row.tolist())) for row in rows])
            if not np.all(np.isfinite(found)):
                raise ResultsError(
                    f"{name_of(function)} gives no finite number for some resample of the values; an interval needs "
                    "one for each"
                )
            return found

        return called
    share = share_of(statistic)
    if share is None:
        return lambda rows: rows.mean(axis=1)
    return lambda rows: _quantiles(rows, share)


def _quantiles(rows: "Array", share: float) -> "Array":
    """Quantile of every row by the definition of quantile.py, without sorting whole rows."""
    import numpy as np

    position = share * (rows.shape[1] - 1)
    below = int(position)
    above = min(below + 1, rows.shape[1] - 1)
    parted = np.partition(rows, (below, above), axis=1)
    found: Array = parted[:, below] + (position - below) * (parted[:, above] - parted[:, below])
    return found


def _left_out(sample: "Array", statistic: Statistic, of_rows: Callable[["Array"], "Array"]) -> "Array":
    """The statistic without each value in turn, shape (n,)."""
    import numpy as np

    n = len(sample)
    if statistic == "mean":
        found: Array = (sample.sum() - sample) / (n - 1)
        return found
    step = max(1, AT_ONCE // n)
    parts = []
    for start in range(0, n, step):
        places = np.arange(start, min(start + step, n))[:, None]
        others = np.arange(n - 1)[None, :]
        parts.append(of_rows(sample[others + (others >= places)]))
    return np.concatenate(parts)


def _acceleration(left_out: "Array") -> float:
    import numpy as np

    deviations = left_out.mean() - left_out
    spread = float(np.sum(deviations**2))
    return 0.0 if spread == 0.0 else float(np.sum(deviations**3)) / (6.0 * spread**1.5)
