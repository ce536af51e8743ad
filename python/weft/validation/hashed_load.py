"""Hashing: how many of n flows the fullest of m equal links gets.

Source: balls into bins. The number of ways to put n labelled flows on m links with at most c on each is
n! [x^n] (sum_{i<=c} x^i / i!)^m; over m^n this is P(max <= c), and E[max] = sum_{c>=0} (1 - P(max <= c)):

    4 on 4: 2.1250    8 on 8: 2.5972    16 on 4: 6.1390    64 on 8: 12.2353

Every leaf of a leaf-spine fabric hashes the n flows of its hosts over m spines with a seed of its own, so a leaf is one
sample. With 10^4 of them the standard error is 0.13 to 0.27 % of the mean.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import factorial

from weft.validation.oracle import Oracle, Row, near_mean

LEAVES = 20


def rows(is_full: bool) -> Iterator[Row]:
    """Four numbers of flows and links."""
    seeds = 10_000
    for flows, links in ((4, 4), (8, 8), (16, 4), (64, 8)):
        largest = [float(load) for load in _largest(flows, links, seeds // LEAVES)]
        setup = f"{flows} flows on {links} links, {seeds} hash seeds"
        yield near_mean("E[max load]", setup, largest, expected_largest(flows, links), relative=0.01)


def expected_largest(flows: int, links: int) -> float:
    """The mean of the largest load, by the formula above in exact fractions.

    >>> [round(expected_largest(n, m), 4) for n, m in ((4, 4), (8, 8), (16, 4), (64, 8))]
    [2.125, 2.5972, 6.139, 12.2353]
    """
    mean = Fraction(0)
    for most in range(flows):
        one = [Fraction(1, factorial(i)) for i in range(most + 1)]
        ways = [Fraction(1)]
        for _ in range(links):
            product = [Fraction(0)] * min(len(ways) + most, flows + 1)
            for i, a in enumerate(ways):
                for j, b in enumerate(one[: flows + 1 - i]):
                    product[i + j] += a * b
            ways = product
        below = ways[flows] * factorial(flows) / links**flows if len(ways) > flows else Fraction(0)
        mean += 1 - below
    return float(mean)


def _largest(flows: int, links: int, seeds: int) -> Iterator[int]:
    """The largest load on the uplinks of each leaf; leaf i sends to leaf i + 1."""
    import weft
    from weft.scenario import Scenario

    experiment = weft.load(
        {
            "backend": {"until": "1 ms"},
            "topology": {"kind": "leaf_spine", "leaves": LEAVES, "spines": links, "hosts_per_leaf": flows},
            "load_balance": {"kind": "ecmp"},
            "workload": [{"kind": "stride", "stride": flows}],
        }
    )
    spec = experiment.spec(next(experiment.cells()))
    for seed in range(seeds):
        # The second link of a path leads from leaf to spine.
        loads = Counter(path[1] for path in Scenario(spec | {"seed": seed}).flows()["path"])
        first = LEAVES * flows * 2
        for leaf in range(LEAVES):
            yield max(loads[first + 2 * (leaf * links + spine)] for spine in range(links))


ORACLE = Oracle(6, "hashed load", "balls into bins, exact", "C", rows)
