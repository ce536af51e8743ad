"""Jellyfish at the flow level: 780 hosts on 245 switches of 14 ports, over shortest and over the 8 shortest paths.

Source: a separate program; mean rate over the hosts' rate of a random permutation under max-min fairness (standard
deviation over draws): equal-cost paths with 1 flow 0.550 (0.012), with 8 flows 0.741 (0.009); 8 shortest paths with 1
flow 0.438 (0.007), with 8 flows 0.831 (0.007). Within two standard deviations.

Over the 8 shortest paths the 8 flows of two hosts take one each. Which of equally long paths belong to the 8 decides
how well they spread. In one fabric, over all pairs of switches, the paths are 26,642 of 3 links, 261,614 of 4 and so on
whichever way; but where all pairs prefer the switches that come first (ties = "numbered", as a program does that keeps
candidates in a heap of paths), a link between switches is on 333 to 1,864 of them (coefficient of variation 0.41), and
where each pair draws, on 451 to 857 (0.11). So the bound is 0.818 numbered and 0.848 drawn, in another fabric 0.820 and
0.843, with 0.831 between them: a program that takes paths in the order in which a random graph lists its neighbours
breaks ties at random for each switch, but alike for all pairs. What the program did is not known; numbered ties are
tested, drawn ones shown.
"""

from collections.abc import Iterator
from typing import Any

from weft.validation.fabrics import mean_shares, permutation
from weft.validation.oracle import Oracle, Row, near, shown

FABRIC = {"kind": "jellyfish", "hosts": 780, "switches": 245, "ports": 14}
ECMP: dict[str, Any] = {"kind": "shortest"}
EIGHT: dict[str, Any] = {"kind": "k_shortest", "k": 8, "share": "round_robin", "ties": "numbered"}
DRAWN = EIGHT | {"ties": "drawn"}
REFERENCE = (
    ("ECMP", ECMP, 1, 0.550, 0.012),
    ("ECMP", ECMP, 8, 0.741, 0.009),
    ("8 shortest paths", EIGHT, 1, 0.438, 0.007),
    ("8 shortest paths", EIGHT, 8, 0.831, 0.007),
)


def rows(is_full: bool) -> Iterator[Row]:
    """Two routings, one and eight flows; then the other order of equally long paths."""
    seeds = 10 if is_full else 3
    drawn = {flows: _mean("8 shortest paths, ties drawn", DRAWN, flows, seeds) for flows in (1, 8)}
    for name, routing, flows, expected, deviation in REFERENCE:
        found, setup = _mean(name, routing, flows, seeds)
        if routing is EIGHT:
            setup += f"; rests on ties numbered: drawn, it is {drawn[flows][0]:.3f}"
        yield near("mean share", setup, found, expected, absolute=2 * deviation, reason="= 2 sd")
    for _, _, flows, expected, _ in REFERENCE[2:]:
        found, setup = drawn[flows]
        yield shown("mean share", setup, found, expected)


def _mean(name: str, routing: dict[str, Any], flows: int, seeds: int) -> tuple[float, str]:
    shares = mean_shares(permutation(FABRIC, routing), flows, seeds)
    setup = f"{name}, {flows} flow{'s' if flows > 1 else ''}, max-min, {seeds} draws"
    return sum(shares) / seeds, setup


ORACLE = Oracle(10, "max-min on a Jellyfish", "a separate program", "C", rows)
