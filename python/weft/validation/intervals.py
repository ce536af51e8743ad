"""Statistics on synthetic data: Jain index, quantiles, coverage of every kind of interval, errors of MANOVA.

Sources: Jain 1984: one of n takes all: 1/n; shares 1..n: (n(n+1)/2)^2 / (n n(n+1)(2n+1)/6) = 3 (n+1) / (2 (2n+1)).
Hyndman and Fan 1996, type 7: the quantile q of 0..n-1 is q (n - 1). A 95 % interval covers in 95 % of samples; in 2000
replications that share has a standard error of sqrt(0.95 x 0.05 / 2000) = 0.49 %, so 1.5 % are three of them.

- Student 1908: exact for the mean of normal values, however few
- order statistics (Thompson 1936): what two ranks cover is binomial, whatever the distribution, at least 95 %
- batch means (Law and Carson 1979) of an autoregressive series x' = phi x + noise, about its mean 0
- BCa (Efron 1987): right in the limit only, so of many values, 300 exponential ones for the mean and 100 for the
  median; in full size only, as it takes a minute
- MANOVA (Wilks 1932): where nothing differs, a test at the 5 % level rejects in 5 % of all samples
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from weft.statistics import Interval, batch_means, interval, jain, mean_interval, quantile
from weft.validation.oracle import Oracle, Row, near

if TYPE_CHECKING:
    import numpy as np

    Draw: TypeAlias = Callable[[np.random.Generator], Any]

REPLICATIONS, MEAN, DEVIATION = 2000, 10.0, 3.0


def rows(is_full: bool) -> Iterator[Row]:
    """Closed forms, then coverage by 2000 replications; the bootstrap in full size only."""
    yield from closed_forms()
    for runs in (2, 3, 5, 10, 30):
        setup = f"95 % t interval of the mean of {runs} normal values"
        yield covered(setup, 1000 + runs, normal(runs), mean_interval, MEAN)
    for runs, share in ((10, 0.5), (50, 0.9)):
        yield between_ranks(runs, share)
    series = ((0.5, 4000), (0.8, 8000)) if is_full else ((0.5, 4000),)
    for phi, length in series:
        setup = f"95 % interval by batch means of {length} values, phi {phi}"
        yield covered(setup, 24, autoregressive(phi, length), lambda values: batch_means(values).interval, 0.0)
    if is_full:
        for statistic, runs, truth in (("mean", 300, 1.0), ("median", 100, math.log(2.0))):
            setup = f"95 % BCa interval of the {statistic} of {runs} exponential values"
            bca = partial(interval, method="bca", statistic=statistic)
            yield covered(setup, 300 + runs, exponential(runs), bca, truth)
    yield from false_findings()


def closed_forms() -> Iterator[Row]:
    """Jain index and quantiles, to rounding."""
    n = 1000
    yield near("Jain index", f"one of {n} takes all", jain([1.0] + [0.0] * (n - 1)), 1 / n, absolute=1e-12)
    shares = [float(share) for share in range(1, n + 1)]
    yield near("Jain index", f"shares 1..{n}", jain(shares), 3 * (n + 1) / (2 * (2 * n + 1)), absolute=1e-12)
    for share in (0.1, 0.5, 0.99):
        values = [float(value) for value in range(n)]
        yield near("quantile", f"{share} of 0..{n - 1}", quantile(values, share), share * (n - 1), relative=1e-12)


def covered(
    setup: str,
    seed: int,
    draw: "Draw",
    made: Callable[[Sequence[float]], Interval],
    truth: float,
    expected: float = 95.0,
) -> Row:
    """The share of samples whose interval holds the truth; a sample without bounds holds nothing."""
    import numpy as np

    random = np.random.default_rng(seed)
    count = 0
    for _ in range(REPLICATIONS):
        found = made(draw(random).tolist())
        count += found.low is not None and found.high is not None and found.low <= truth <= found.high
    share = 100 * count / REPLICATIONS
    return near("coverage", f"{setup}, {REPLICATIONS} replications", share, expected, absolute=1.5, unit="%")


def between_ranks(runs: int, share: float) -> Row:
    """Coverage between order statistics of exponential values against the exact binomial one, which is above 95 %."""
    from weft.statistics.order_statistics import bounding_ranks, coverage

    ranks = bounding_ranks(runs, share, 0.95)
    assert ranks is not None, (runs, share)
    name = "median" if share == 0.5 else f"p{100 * share:g}"
    setup = f"order statistics {ranks[0]} and {ranks[1]} about the {name} of {runs} exponential values"
    expected = 100 * coverage(runs, share, *ranks)
    made = partial(interval, method="order", statistic=name)
    return covered(setup, runs, exponential(runs), made, -math.log(1.0 - share), expected)


def false_findings() -> Iterator[Row]:
    """How often Wilks' test of each effect finds something in normal noise: 2 x 2 cells of 6 runs, 3 responses."""
    import numpy as np
    import polars as pl

    from weft.statistics.criteria import criteria
    from weft.statistics.design import design
    from weft.statistics.manova import roots_of

    random = np.random.default_rng(7)
    codes = [(a, b) for a in range(2) for b in range(2) for _ in range(6)]
    made = design(pl.DataFrame({"a": [a for a, _ in codes], "b": [b for _, b in codes]}), ["a", "b"])
    whole = made.basis(made.terms)
    owned = [made.own(term)[1] for term in made.terms]
    rejected = [0] * len(owned)
    for _ in range(REPLICATIONS):
        values = random.normal(size=(len(codes), 3))
        _, triangle = np.linalg.qr(values - whole @ (whole.T @ values))
        for place, own in enumerate(owned):
            wilks = criteria("", roots_of(own.T @ values, triangle), 3, 1, made.error_degrees)[0]
            rejected[place] += wilks.p_value is not None and wilks.p_value < 0.05
    for term, count in zip(made.terms, rejected, strict=True):
        setup = f"MANOVA, Wilks, effect {term.name}, 2 x 2 cells of 6 runs, 3 responses, {REPLICATIONS} replications"
        yield near("false findings at 5 %", setup, 100 * count / REPLICATIONS, 5.0, absolute=1.5, unit="%")


def normal(runs: int) -> "Draw":
    """Draws normal values."""
    return lambda random: random.normal(MEAN, DEVIATION, runs)


def exponential(runs: int) -> "Draw":
    """Draws exponential values of mean 1."""
    return lambda random: random.exponential(size=runs)


def autoregressive(phi: float, length: int) -> "Draw":
    """Draws a stationary series x' = phi x + noise of deviation 1, about 0."""
    from scipy.signal import lfilter

    def draw(random: "np.random.Generator") -> Any:
        noise = random.normal(size=length)
        noise[0] /= math.sqrt(1.0 - phi * phi)
        return lfilter([1.0], [1.0, -phi], noise)

    return draw


ORACLE = Oracle(24, "statistics", "Jain 1984; Hyndman and Fan 1996; Student 1908; Thompson 1936; Wilks 1932", "A", rows)
