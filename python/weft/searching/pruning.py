"""Pruning: when a trial is not worth the rest of its repeats.

Every trial has the same seeds, so that trials are compared seed by seed. After its third and each further repeat, the t
interval of the mean difference to the best trial is looked at: if even its good end is worse than no difference, the
trial is stopped. The level (5 %) is shared between all looks (Bonferroni), so that a trial which would have been better
after all of its repeats is stopped in at most 5 % of cases, however often it is looked at. A constraint is looked at in
the same way: if even the good end of its interval misses the bound, the trial cannot become feasible.

Only a feasible best trial of an earlier batch is compared with: what is pruned does not depend on which run of a batch
ends first.
"""

from collections.abc import Sequence

from weft.statistics.interval import mean_interval
from weft.statistics.paired import differences

LEVEL = 0.05
FIRST_LOOK = 3
"""Repeats before the first look: two say too little about the spread."""


def confidence_of_look(repeats: int) -> float:
    """Confidence of the two-sided interval at each look, of which one end decides.

    >>> confidence_of_look(10)
    0.9857142857142858
    """
    looks = max(1, repeats - FIRST_LOOK)
    return 1.0 - 2.0 * LEVEL / looks


def cannot_reach(best: Sequence[float], values: Sequence[float], sign: float, repeats: int) -> bool:
    """Whether a trial with the `values` of its first repeats is hopeless against the best trial's.

    `sign` is 1 where larger is better, else -1; `repeats` are those that each trial has in the end.

    >>> cannot_reach([9.0, 9.1, 9.2, 9.0], [5.0, 5.1, 5.3], 1.0, 4), cannot_reach([9.0, 9.1], [5.0, 5.1], 1.0, 4)
    (True, False)
    """
    n = len(values)
    if not FIRST_LOOK <= n < repeats or len(best) < n:
        return False
    gained = [sign * gain for gain in differences(best[:n], values)]
    high = mean_interval(gained, confidence_of_look(repeats)).high
    return high is not None and high < 0.0


def cannot_keep(misses: Sequence[float], repeats: int) -> bool:
    """Whether a bound that the first repeats missed by `misses` is hopeless (see Constraint.misses)."""
    if not FIRST_LOOK <= len(misses) < repeats:
        return False
    low = mean_interval(misses, confidence_of_look(repeats)).low
    return low is not None and low > 0.0
