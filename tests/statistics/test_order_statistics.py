"""Intervals between order statistics: ranks of published tables, exact coverage, and when there are too few values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import ResultsError
from weft.statistics import Interval, interval
from weft.statistics.order_statistics import bounding_ranks, coverage, fewest_values, quantile_interval


@pytest.mark.parametrize(
    ("n", "low", "high", "covered"),
    # Confidence 1 - 2 (1 + n + ... + C(n, k - 1)) / 2^n of the k-th values from either end, worked out in integers.
    [(6, 1, 6, 1 - 2 / 64), (9, 2, 8, 1 - 20 / 512), (10, 2, 9, 1 - 22 / 1024), (15, 4, 12, 1 - 2 * 576 / 32768)],
)
def test_ranks_about_the_median(n: int, low: int, high: int, covered: float):
    assert bounding_ranks(n, 0.5, 0.95) == (low, high)
    assert coverage(n, 0.5, low, high) == pytest.approx(covered, rel=1e-12)
    # One rank closer on both sides would cover less than 95 %.
    assert low + 1 >= high - 1 or coverage(n, 0.5, low + 1, high - 1) < 0.95


def test_how_many_values_a_percentile_takes():
    # 2 x 0.5^n <= 0.05 from n = 6; 0.99^n <= 0.025 from n = ln 0.025 / ln 0.99 = 367.03; 0.9^n from 35.01.
    assert fewest_values(0.5, 0.95) == 6
    assert fewest_values(0.99, 0.95) == math.ceil(math.log(0.025) / math.log(0.99)) == 368
    assert fewest_values(0.9, 0.95) == fewest_values(0.1, 0.95) == 36
    assert bounding_ranks(367, 0.99, 0.95) is None
    assert bounding_ranks(368, 0.99, 0.95) is not None


@given(st.integers(2, 400), st.floats(0.02, 0.98), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_coverage_is_never_below_the_confidence(n: int, share: float, confidence: float):
    ranks = bounding_ranks(n, share, confidence)
    assert (ranks is None) == (n < fewest_values(share, confidence))
    if ranks is not None:
        assert 1 <= ranks[0] < ranks[1] <= n
        assert coverage(n, share, *ranks) >= confidence - 1e-12


@pytest.mark.parametrize(("n", "share"), [(10, 0.5), (25, 0.5), (50, 0.9), (400, 0.99)])
def test_measured_coverage_is_the_binomial_one(n: int, share: float):
    # Oracle 24: 2000 replications of exponential values; the share's standard deviation is at most 0.49 %.
    random = np.random.default_rng(n)
    ranks = bounding_ranks(n, share, 0.95)
    assert ranks is not None
    truth = -math.log(1 - share)
    covered = 0
    for sample in random.exponential(size=(2000, n)).tolist():
        found = quantile_interval(sample, share)
        assert found.low is not None and found.high is not None
        covered += found.low <= truth <= found.high
    assert abs(covered / 2000 - coverage(n, share, *ranks)) <= 0.015
    assert covered / 2000 >= 0.95 - 0.015


def test_the_note_says_what_is_covered_or_missing():
    found = interval([float(value) for value in range(9)], statistic="median")
    assert found == Interval(4.0, 1.0, 7.0, 9, "median", "order", "values 2 and 8 of 9 in order; cover with 96.1 %")
    few = interval([1.0] * 100, statistic="p99")
    assert (few.value, few.low, few.high, few.half_width) == (1.0, None, None, None)
    assert few.note == "100 values are too few for a 95 % interval of the p99; it takes 368"


def test_ties_are_bounds_like_any_value():
    assert interval([2.0] * 8, statistic="median").low == interval([2.0] * 8, statistic="median").high == 2.0


@pytest.mark.parametrize(
    ("values", "share", "confidence", "text"),
    [([], 0.5, 0.95, "at least one value"), ([1.0], 1.5, 0.95, "share 1.5"), ([1.0], 0.5, 1.0, "confidence 1.0")],
)
def test_what_has_no_interval_is_refused(values: list[float], share: float, confidence: float, text: str):
    with pytest.raises(ResultsError, match=text):
        quantile_interval(values, share, confidence)
