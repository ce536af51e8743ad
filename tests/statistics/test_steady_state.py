"""Warm-up and batch means: optima by hand, autoregressive series with a known variance."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter

from weft.errors import ResultsError
from weft.statistics import batch_means, mser5, steady_interval
from weft.statistics.steady_state import lag_one


def autoregressive(random: np.random.Generator, phi: float, n: int) -> np.ndarray:
    """Stationary x' = phi x + e with normal e of variance 1; the variance of its mean tends to 1 / (1 - phi)^2 / n."""
    noise = random.normal(size=n)
    noise[0] /= math.sqrt(1.0 - phi * phi)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise))


def test_the_optimal_cut_by_hand():
    # Ten batches with means 10 4 2 1 2 1 2 1 2 1. What is left after d batches has squares about its mean over m^2:
    # d = 1: 7.556/81 = 0.0933; d = 2: 2/64 = 0.03125; d = 3: 1.714/49 = 0.0350; d = 4: 1.5/36 = 0.0417; d = 5: 1.2/25.
    means = [10, 4, 2, 1, 2, 1, 2, 1, 2, 1]
    found = mser5([float(mean) for mean in means for _ in range(5)])
    assert (found.removed, found.batch, found.n, found.is_steady) == (10, 5, 50, True)
    assert found.note == "left out 10 of 50 values (MSER-5)"
    # The values within a batch do not matter, nor an incomplete batch at the end.
    assert mser5([mean + shift for mean in means for shift in (-2.0, -1, 0, 1, 2)] + [99.0] * 4).removed == 10


@given(st.lists(st.floats(-100, 100), min_size=50, max_size=200))
def test_it_is_the_minimum_of_the_definition(values: list[float]):
    count = len(values) // 5
    means = [sum(values[5 * place : 5 * place + 5]) / 5 for place in range(count)]

    def error(cut: int) -> float:
        kept = means[cut:]
        center = math.fsum(kept) / len(kept)
        return math.fsum((mean - center) ** 2 for mean in kept) / len(kept) ** 2

    errors = [error(cut) for cut in range(count // 2 + 1)]
    found = mser5(values)
    place = found.removed // 5 if found.is_steady else count // 2
    assert errors[place] <= min(errors) + 1e-9 * max(1.0, max(errors))


def test_a_constant_series_has_no_warm_up():
    assert mser5([0.1] * 100).removed == 0
    assert mser5([7.0] * 15 + [0.3] * 85).removed == 15


def test_a_drift_is_no_steady_state():
    found = mser5([float(value) for value in range(100)])
    assert (found.is_steady, found.removed) == (False, 0)
    assert found.note.startswith("no steady state: the series still drifts after 50 of 100 values")
    warm_up, interval = steady_interval([float(value) for value in range(1000)])
    assert not warm_up.is_steady
    assert (interval.value, interval.low, interval.note) == (499.5, None, warm_up.note)


def test_a_transient_is_found_in_noise():
    # 10 exp(-t / 100) over noise of deviation 1: by 500 it is down to 0.07; ten of ten runs cut between 100 and 800.
    random = np.random.default_rng(3)
    for _ in range(10):
        series = 10 * np.exp(-np.arange(4000) / 100) + random.normal(size=4000)
        found = mser5(series.tolist())
        assert found.is_steady and 100 <= found.removed <= 800


def test_lag_one_of_an_autoregressive_series_is_phi():
    assert lag_one(autoregressive(np.random.default_rng(1), 0.7, 200_000)) == pytest.approx(0.7, abs=0.01)
    assert lag_one([5.0] * 10) == 0.0


def test_the_batch_grows_with_the_correlation():
    # Neighbouring means of b values of an AR(1) correlate by phi (1 - phi^b)^2 / (b (1 - phi^2) - 2 phi (1 - phi^b)).
    # phi 0.8: b = 8 gives 0.358, b = 16 gives 0.180, so fine batches have 16; at most 30 batches, so 100000/30 values.
    found = batch_means(autoregressive(np.random.default_rng(2), 0.8, 100_000).tolist())
    assert (found.fine_size, found.batches, found.batch_size) == (16, 30, 3333)
    assert found.autocorrelation == pytest.approx(0.180, abs=0.04)
    # White noise needs no batches to be independent; 300 values still give 30 of 10.
    plain = batch_means(np.random.default_rng(5).normal(size=300).tolist())
    assert (plain.fine_size, plain.batches, plain.batch_size) == (1, 30, 10)


def test_the_width_is_that_of_the_known_variance():
    # phi 0.5, n 8000: standard error 1 / 0.5 / sqrt(8000) = 0.02236; half width t(29) = 2.0452 times that, 0.0457.
    random = np.random.default_rng(4)
    halves = [batch_means(autoregressive(random, 0.5, 8000).tolist()).interval.half_width or 0.0 for _ in range(100)]
    # A half width has a relative deviation of 1 / sqrt(58) = 13 %, its mean over 100 of 1.3 %.
    assert np.mean(halves) == pytest.approx(2.0452 * 0.02236, rel=0.05)


@pytest.mark.parametrize(("phi", "n"), [(0.0, 500), (0.5, 4000), (0.8, 8000)])
def test_coverage_on_autoregressive_series(phi: float, n: int):
    # Oracle 24: 95 +- 1.5 % of those long enough, in 1000 or 2000 replications.
    random = np.random.default_rng(12)
    replications = 2000 if n < 8000 else 1000
    covered = counted = 0
    for _ in range(replications):
        found = batch_means(autoregressive(random, phi, n).tolist()).interval
        if found.low is not None and found.high is not None:
            counted += 1
            covered += found.low <= 0.0 <= found.high
    assert counted >= 0.99 * replications
    assert abs(covered / counted - 0.95) <= (0.015 if replications == 2000 else 0.02)


def test_a_short_series_says_how_long_it_should_be():
    found = batch_means(autoregressive(np.random.default_rng(6), 0.95, 1000).tolist())
    assert found.interval.low is None and found.batches == 0
    assert found.interval.note.startswith("1000 values are too short: means of 8 neighbours still correlate by 0.")
    assert found.interval.note.endswith("it takes at least 1600")


def test_a_run_with_warm_up_covers_its_steady_mean():
    random = np.random.default_rng(8)
    covered = 0
    for _ in range(200):
        series = 30 * np.exp(-np.arange(5000) / 50) + autoregressive(random, 0.3, 5000) + 10.0
        warm_up, found = steady_interval(series.tolist())
        assert found.n == 5000 - warm_up.removed
        covered += found.low is not None and found.high is not None and found.low <= 10.0 <= found.high
    assert covered >= 180  # 95 % of 200 less three standard deviations


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: mser5([1.0] * 49), "49 values are too few to find a warm-up; expected at least 50"),
        (lambda: mser5([1.0] * 50, batch=0), "a batch of 0 values"),
        (lambda: mser5([1.0] * 50 + [math.nan]), "value 50 of 51 is nan"),
        (lambda: batch_means([1.0] * 99), "99 values are too few for batch means; expected at least 100"),
        (lambda: batch_means([1.0] * 200, 95.0), "confidence 95.0"),
    ],
)
def test_what_cannot_be_analysed_is_refused(call: object, text: str):
    with pytest.raises(ResultsError) as raised:
        call()  # type: ignore[operator]
    assert text in str(raised.value)
