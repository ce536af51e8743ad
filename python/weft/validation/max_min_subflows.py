"""Fat tree at the flow level, with subflows: what splitting a flow over independent random paths adds.

Source: a separate program; mean rate over the hosts' rate for k = 8: 2 subflows 0.639, 8 subflows 0.887; for k = 14
(10 and 5 draws): 0.593 and 0.857. Every subflow is a flow of its own to max-min fairness. Within 0.02.
"""

from collections.abc import Iterator

from weft.validation.fabrics import mean_shares, permutation
from weft.validation.oracle import Oracle, Row, near

REFERENCE = ((8, 2, 0.639, 30), (8, 8, 0.887, 30), (14, 2, 0.593, 10), (14, 8, 0.857, 5))


def rows(is_full: bool) -> Iterator[Row]:
    """Trees of 8 and 14 ports, 2 and 8 subflows."""
    for k, subflows, expected, draws in REFERENCE:
        seeds = draws if is_full else max(3, draws // 3)
        shares = mean_shares(permutation({"kind": "fat_tree", "k": k}), subflows, seeds)
        setup = f"k = {k}, max-min, {subflows} subflows, {seeds} draws"
        yield near("mean share", setup, sum(shares) / seeds, expected, absolute=0.02)


ORACLE = Oracle(8, "max-min with subflows", "a separate program", "C", rows)
