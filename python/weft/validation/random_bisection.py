"""Random regular graph: its bisection, 246 switches with 11 neighbours each.

Source: Bollobás, European Journal of Combinatorics 9, 1988: nearly every r-regular graph of N nodes has no bisection
below N (r / 4 - sqrt(r ln 2) / 2) = 246 (2.75 - 1.381) = 336.9. The best cut found must not be below it, nor below
the bound of the spectrum of that very graph, which is weaker. Only the second is a law for a single graph; both are
shown.
"""

import math
from collections.abc import Iterator

from weft.validation.fabrics import RATE, permutation, scenarios
from weft.validation.oracle import Oracle, Row, between, shown

SWITCHES, DEGREE = 246, 11
BOLLOBAS = SWITCHES * (DEGREE / 4 - math.sqrt(DEGREE * math.log(2)) / 2)


def rows(is_full: bool) -> Iterator[Row]:
    """A few random graphs."""
    from weft.bisection import of_links

    seeds = 5 if is_full else 2
    fabric = {"kind": "random_regular", "switches": SWITCHES, "degree": DEGREE}
    for seed, scenario in enumerate(scenarios(permutation(fabric), seeds), 1):
        found = of_links(scenario.nodes(), scenario.links())
        assert found is not None
        setup = f"N = {SWITCHES}, r = {DEGREE}, graph {seed}"
        best, lower = found.best / RATE, found.lower / RATE
        yield between("best cut found, above the spectrum", setup, best, lower, math.inf, unit="links")
        yield shown("best cut found, against Bollobás' bound", setup, best, BOLLOBAS, unit="links")


ORACLE = Oracle(12, "bisection of a random graph", "Bollobás 1988", "A", rows)
