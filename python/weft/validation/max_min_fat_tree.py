"""Fat tree at the flow level: what max-min fairness gives the flows of a random permutation, one random path each.

Source: a separate program, n draws: mean rate over the hosts' rate 0.5925 (standard deviation 0.075, n = 2000) for k
= 4, 0.4765 (0.020, n = 300) for k = 8, 0.432 (0.006, n = 12) for k = 14. Nobody sends to itself; source and
destination may share an edge switch. Both sides are means of draws, so they may differ by twice the root of the sum
of their squared standard errors.
"""

import math
from collections.abc import Iterator

from weft.statistics.interval import mean_interval
from weft.validation.fabrics import mean_shares, permutation
from weft.validation.oracle import FAIL, PASS, Oracle, Row

REFERENCE = ((4, 0.5925, 0.075, 2000), (8, 0.4765, 0.020, 300), (14, 0.432, 0.006, 12))
SAMPLED = {4: 500, 8: 60, 14: 6}


def rows(is_full: bool) -> Iterator[Row]:
    """Trees of 4, 8 and 14 ports."""
    for k, expected, deviation, reference in REFERENCE:
        seeds = reference if is_full else SAMPLED[k]
        shares = mean_shares(permutation({"kind": "fat_tree", "k": k}), 1, seeds)
        interval = mean_interval(shares)
        variance = math.fsum((share - interval.mean) ** 2 for share in shares) / (seeds - 1)
        allowed = 2 * math.sqrt(variance / seeds + deviation**2 / reference)
        verdict = PASS if abs(interval.mean - expected) <= allowed else FAIL
        setup = f"k = {k}, max-min, one path, {seeds} draws against {reference}"
        text = f"{allowed:.2g} = 2 sqrt(se² + se²)"
        yield Row("mean share", setup, interval.mean, expected, text, verdict, interval.low, interval.high)


ORACLE = Oracle(7, "max-min on a fat tree", "a separate program", "C", rows)
