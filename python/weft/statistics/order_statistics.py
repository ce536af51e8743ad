"""Intervals of medians and other quantiles between two values of the sample, for any distribution.

Sources: Thompson, Ann. Math. Statist. 7, 1936; Hahn and Meeker, "Statistical Intervals", Wiley 1991, section 5.2. How
many of n independent values lie below the true quantile is binomial(n, share), whatever their distribution. So the
k-th smallest is above the quantile with a probability that needs no assumption. Each bound is the innermost value
that errs by at most half of 1 - confidence; the interval covers with at least its confidence, usually with more, and
the note says how much.
"""

from collections.abc import Sequence

from weft.statistics.interval import Interval, check_sample
from weft.statistics.quantile import quantile


def quantile_interval(values: Sequence[float], share: float, confidence: float = 0.95) -> Interval:
    """Sample quantile with the order statistics that bound the true one.

    Without bounds where the sample is too small; the note says how many values it takes. Raises ResultsError for no
    values, for one that is not finite, and for a confidence or a share outside 0..1.

    >>> found = quantile_interval([float(value) for value in range(1, 11)], 0.5)
    >>> found.low, found.value, found.high, found.note
    (2.0, 5.5, 9.0, 'values 2 and 9 of 10 in order; cover with 97.9 %')
    >>> quantile_interval([1.0, 2.0, 3.0], 0.5).note
    '3 values are too few for a 95 % interval of the median; it takes 6'
    """
    check_sample(values, confidence)
    value = quantile(values, share)
    name = "median" if share == 0.5 else f"p{100 * share:.10g}"
    ranks = bounding_ranks(len(values), share, confidence)
    if ranks is None:
        wanted = f"a {100 * confidence:.10g} % interval of the {name}"
        note = f"{len(values)} values are too few for {wanted}; it takes {fewest_values(share, confidence)}"
        return Interval(value, None, None, len(values), name, "order", note)
    low, high = ranks
    ordered = sorted(values)
    covered = coverage(len(values), share, low, high)
    note = f"values {low} and {high} of {len(values)} in order; cover with {100 * covered:.1f} %"
    return Interval(value, ordered[low - 1], ordered[high - 1], len(values), name, "order", note)


def bounding_ranks(n: int, share: float, confidence: float) -> tuple[int, int] | None:
    """Ranks, from 1, of the two bounds; None if a bound would lie outside the sample.

    >>> bounding_ranks(10, 0.5, 0.95), bounding_ranks(5, 0.5, 0.95)
    ((2, 9), None)
    """
    import numpy as np
    from scipy.special import bdtr

    tail = (1.0 - confidence) / 2.0
    # below[k]: at most k values lie under the quantile. The k-th smallest lies above it with below[k - 1].
    below = np.asarray(bdtr(np.arange(n), n, share))
    too_high = np.flatnonzero(below <= tail)
    too_low = np.flatnonzero(below >= 1.0 - tail)
    if len(too_high) == 0 or len(too_low) == 0:
        return None
    return int(too_high[-1]) + 1, int(too_low[0]) + 1


def coverage(n: int, share: float, low: int, high: int) -> float:
    """Probability that the quantile of a continuous distribution lies between two ranks of n values.

    >>> round(coverage(10, 0.5, 2, 9), 6)  # 1 - 2 (1 + 10) / 1024
    0.978516
    """
    from scipy.special import bdtr

    return float(bdtr(high - 1, n, share) - bdtr(low - 1, n, share))


def fewest_values(share: float, confidence: float) -> int:
    """Values that an interval takes: the smallest may be above the quantile, the largest below, half of the error each.

    >>> fewest_values(0.5, 0.95), fewest_values(0.99, 0.95)
    (6, 368)
    """
    n, rarer = 1, max(share, 1.0 - share)
    while rarer**n > (1.0 - confidence) / 2.0:
        n += 1
    return n
