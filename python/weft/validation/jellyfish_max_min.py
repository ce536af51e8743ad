"""Jellyfish at the flow level: 780 hosts on 245 switches of 14 ports, over shortest and over the 8 shortest paths.

Source: a separate program; mean rate over the hosts' rate of a random permutation under max-min fairness (standard
deviation over draws): equal-cost paths with 1 flow 0.550 (0.012), with 8 flows 0.741 (0.009); 8 shortest paths with 1
flow 0.438 (0.007), with 8 flows 0.831 (0.007). Within two standard deviations. Over 8 shortest paths the 8 flows of a
host pair take one each; which of equally long paths belong to the 8 is drawn, and not every way of drawing them
spreads them as well.
"""

from collections.abc import Iterator

from weft.validation.fabrics import mean_shares, permutation
from weft.validation.oracle import Oracle, Row, near

FABRIC = {"kind": "jellyfish", "hosts": 780, "switches": 245, "ports": 14}
ECMP = {"kind": "shortest"}
EIGHT = {"kind": "k_shortest", "k": 8, "share": "round_robin"}
REFERENCE = (
    ("ECMP", ECMP, 1, 0.550, 0.012),
    ("ECMP", ECMP, 8, 0.741, 0.009),
    ("8 shortest paths", EIGHT, 1, 0.438, 0.007),
    ("8 shortest paths", EIGHT, 8, 0.831, 0.007),
)


def rows(is_full: bool) -> Iterator[Row]:
    """Two routings, one and eight flows."""
    seeds = 10 if is_full else 3
    for name, routing, flows, expected, deviation in REFERENCE:
        shares = mean_shares(permutation(FABRIC, routing), flows, seeds)
        setup = f"{name}, {flows} flow{'s' if flows > 1 else ''}, max-min, {seeds} draws"
        yield near("mean share", setup, sum(shares) / seeds, expected, absolute=2 * deviation, reason="= 2 sd")


ORACLE = Oracle(10, "max-min on a Jellyfish", "a separate program", "C", rows)
