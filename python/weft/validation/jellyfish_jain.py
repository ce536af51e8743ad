"""Fairness of a Jellyfish and of a fat tree with MPTCP: the Jain index of the flows of a random permutation.

Source: Singla et al., "Jellyfish" (NSDI 2012), section 5, as recalled: both about 0.99; the runs are those of table 1
(`jellyfish_published.py`).
"""

from collections.abc import Iterator

from weft.statistics import jain
from weft.validation.jellyfish_published import EIGHT, MPTCP, NAMES, TREE, shares
from weft.validation.oracle import Oracle, Row, between, shown


def rows(is_full: bool) -> Iterator[Row]:
    """Both fabrics, each the mean over its runs. A Jellyfish of 45 switches has few paths, and is shown only."""
    found = shares(is_full)
    size = "k = 14 and 780 hosts, 5 runs" if is_full else "k = 6 and 61 hosts, 1 run"
    for fabric in (TREE, EIGHT):
        runs = found[MPTCP, fabric]
        index = sum(map(jain, runs)) / len(runs)
        setup = f"{NAMES[fabric]}: {NAMES[MPTCP]}; {size}"
        if is_full or fabric == TREE:
            yield between("Jain index", setup, index, 0.97, 1.0, expected=0.99)
        else:
            yield shown("Jain index", setup, index, 0.99)


ORACLE = Oracle(34, "Jellyfish, fairness", "Singla et al., NSDI 2012", "R", rows)
