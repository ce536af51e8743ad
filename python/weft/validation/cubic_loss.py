"""CUBIC: mean window under periodic loss.

Source: RFC 9438, the response function of its steady-state model: with C = 0.4, beta = 0.7

    mean window = (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4)
                = (0.4 x 3.7 / 1.2)^(1/4) x (0.1 / 10^-4)^(3/4) = 1.0538 x 177.83 = 187.4 segments

for p = 10^-4 and a round trip of 100 ms.

The equation is a fixed point that is approached very slowly: losses fall where the cubic is flat, so with each loss the
window moves by the cube of what it is off. In runs of minutes it stays above without fast convergence; with it, a loss
below the last maximum takes off another 15 %, so it ends below and climbs. This is what the 10 % are for.
"""

from collections.abc import Iterator

from weft.validation.oracle import Oracle, Row, near, simulate
from weft.validation.reno_loss import lossy_path, mean_window

P, ROUND_TRIP_S, C, BETA = 1e-4, 0.1, 0.4, 0.7


def rows(is_full: bool) -> Iterator[Row]:
    """Mean window with and without fast convergence."""
    seconds, warmup = (10_000, 2_000) if is_full else (1_300, 300)
    expected = (C * (3 + BETA) / (4 * (1 - BETA))) ** 0.25 * (ROUND_TRIP_S / P) ** 0.75
    for fast_convergence in (False, True):
        experiment = lossy_path({"kind": "cubic", "fast_convergence": fast_convergence}, P, 100, seconds, warmup)
        window = mean_window(simulate(experiment), warmup)
        with_or_without = "with" if fast_convergence else "without"
        setup = f"p = 1e-4 periodic, 100 ms, {with_or_without} fast convergence, {seconds - warmup} s"
        yield near("mean window", setup, window, expected, relative=0.1, unit="segments")


ORACLE = Oracle(15, "CUBIC under loss", "RFC 9438", "A", rows)
