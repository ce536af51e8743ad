"""More subflows carry more: a permutation on a fat tree against the number of subflows.

Source: Raiciu et al., "Improving datacenter performance and robustness with multipath TCP" (SIGCOMM 2011), figure 2, as
recalled: about 50 % of the optimum with one path, about 90 % with eight, monotone between. The fabric is that of oracle
30 (128 hosts). Fairness between the flows is that of Jellyfish (NSDI 2012), recalled as a Jain index of about 0.99.
"""

from collections.abc import Iterator
from itertools import pairwise

from weft.statistics import jain
from weft.validation.fat_tree_mptcp import shares
from weft.validation.oracle import FAIL, PASS, Oracle, Row, between, shown

PUBLISHED = {1: 50.0, 8: 90.0}


def rows(is_full: bool) -> Iterator[Row]:
    """Means, shown; their order and the fairness with eight, tested."""
    seeds = 5 if is_full else 1
    means = []
    for subflows in (1, 2, 4, 8):
        runs = shares(seeds, {"kind": "mptcp", "subflows": subflows}, "lia")
        flows = [share for run in runs for share in run]
        means.append(sum(flows) / len(flows))
        setup = f"k = 8, {subflows} subflows, LIA, {seeds} seeds"
        yield shown("mean share", setup, means[-1], PUBLISHED.get(subflows), unit="%")
    rises = [later - earlier for earlier, later in pairwise(means)]
    verdict = PASS if min(rises) > 0 else FAIL
    yield Row("smallest rise", "from 1 to 2 to 4 to 8 subflows", min(rises), None, "above 0", verdict, unit="pp")
    yield between("Jain index", setup, sum(map(jain, runs)) / len(runs), 0.97, 1.0, expected=0.99)


ORACLE = Oracle(35, "subflows against throughput", "Raiciu et al., SIGCOMM 2011", "R", rows)
