"""Jellyfish: how far 686 hosts on 245 switches of 14 ports are from each other.

Source: a separate program: 0.27, 4.53, 36.66, 58.16 and 0.38 % of the host pairs at 2, 3, 4, 5 and 6 links; switches
2.541 links apart in the mean, 4 at most. Shares within 0.5 points, the mean within 0.01 (a hundredth of a link), the
diameter exact.
"""

from collections.abc import Iterator

from weft.validation.fabrics import permutation, scenarios
from weft.validation.oracle import Oracle, Row, near

FABRIC = {"kind": "jellyfish", "hosts": 686, "switches": 245, "ports": 14}
PERCENT = {2: 0.27, 3: 4.53, 4: 36.66, 5: 58.16, 6: 0.38}


def rows(is_full: bool) -> Iterator[Row]:
    """Means over random graphs."""
    seeds = 10 if is_full else 3
    surveys = [scenario.survey() for scenario in scenarios(permutation(FABRIC), seeds)]
    setup = f"686 hosts, 245 switches of 14 ports, {seeds} graphs"
    by_hops = [dict(survey["pairs_by_hops"]) for survey in surveys]
    pairs = 686 * 685
    for hops, expected in PERCENT.items():
        found = 100 * sum(counts.get(hops, 0) for counts in by_hops) / seeds / pairs
        yield near(f"pairs at {hops} links", setup, found, expected, absolute=0.5, unit="%")
    distances = [survey["switches_by_distance"] for survey in surveys]
    mean = sum(d * n for found in distances for d, n in found) / seeds / (245 * 244)
    yield near("mean switch distance", setup, mean, 2.541, absolute=0.01)
    yield near("diameter", setup, max(d for found in distances for d, _ in found), 4)


ORACLE = Oracle(11, "Jellyfish distances", "a separate program", "C", rows)
