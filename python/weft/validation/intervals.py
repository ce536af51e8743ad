"""Statistics on synthetic data: Jain index, quantiles, coverage of t intervals.

Sources: Jain 1984: one of n takes all: 1/n; shares 1..n: (n(n+1)/2)^2 / (n n(n+1)(2n+1)/6) = 3 (n+1) / (2 (2n+1)).
Hyndman and Fan 1996, type 7: the quantile q of 0..n-1 is q (n - 1). Student 1908: a 95 % interval of normal data covers
the mean in 95 % of all samples; in 2000 replications that share has a standard error of sqrt(0.95 x 0.05 / 2000) =
0.49 %, so 1.5 % are three of them.
"""

from collections.abc import Iterator

from weft.statistics import jain, mean_interval, quantile
from weft.validation.oracle import Oracle, Row, near

REPLICATIONS, MEAN, DEVIATION = 2000, 10.0, 3.0


def rows(is_full: bool) -> Iterator[Row]:
    """Closed forms, then coverage for several numbers of runs."""
    import numpy as np

    n = 1000
    yield near("Jain index", f"one of {n} takes all", jain([1.0] + [0.0] * (n - 1)), 1 / n, absolute=1e-12)
    shares = [float(share) for share in range(1, n + 1)]
    yield near("Jain index", f"shares 1..{n}", jain(shares), 3 * (n + 1) / (2 * (2 * n + 1)), absolute=1e-12)
    for share in (0.1, 0.5, 0.99):
        values = [float(value) for value in range(n)]
        yield near("quantile", f"{share} of 0..{n - 1}", quantile(values, share), share * (n - 1), relative=1e-12)
    for runs in (2, 3, 5, 10, 30):
        random = np.random.default_rng(1000 + runs)
        covered = 0
        for sample in random.normal(MEAN, DEVIATION, (REPLICATIONS, runs)).tolist():
            interval = mean_interval(sample)
            covered += interval.low is not None and interval.high is not None and interval.low <= MEAN <= interval.high
        setup = f"95 % interval of {runs} normal values, {REPLICATIONS} replications"
        yield near("coverage", setup, 100 * covered / REPLICATIONS, 95.0, absolute=1.5, unit="%")


ORACLE = Oracle(24, "statistics", "Jain 1984; Hyndman and Fan 1996; Student 1908", "A", rows)
