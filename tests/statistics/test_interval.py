"""Oracle 24: intervals on synthetic data whose truth is known."""

import math
import random

import pytest

from weft.errors import ResultsError
from weft.statistics import Interval, mean_interval
from weft.statistics.interval import student_t


def test_interval_of_three_values_by_hand():
    # mean 10, s = 1, t(2, 0.95) = 4.302653 (any table), so 10 -+ 4.302653 / sqrt(3).
    interval = mean_interval([9.0, 10.0, 11.0])
    assert interval.mean == 10.0
    assert interval.half_width == pytest.approx(4.302652729911275 / math.sqrt(3.0), abs=1e-9)
    assert interval.low == pytest.approx(10.0 - interval.half_width, abs=1e-12)


@pytest.mark.parametrize(
    ("degrees", "confidence", "t"),
    # Closed forms: one degree is the Cauchy distribution, tan(pi c / 2); two degrees 2a / sqrt(2 (1 - a^2)) with a = c.
    [
        (1, 0.95, math.tan(math.pi * 0.475)),
        (1, 0.5, 1.0),
        (2, 0.95, 2 * 0.95 / math.sqrt(2 * (1 - 0.95**2))),
        (2, 0.9, 2 * 0.9 / math.sqrt(2 * (1 - 0.9**2))),
    ],
)
def test_student_t_has_closed_forms_for_one_and_two_degrees(degrees: int, confidence: float, t: float):
    assert student_t(degrees, confidence) == pytest.approx(t, rel=1e-9)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_coverage_is_what_the_interval_says(n: int):
    # Oracle 24: 2000 replications, 95 +- 1.5 %. The share itself has a standard deviation of 0.49 %.
    generator = random.Random(7 * n)
    covered = 0
    for _ in range(2000):
        interval = mean_interval([generator.gauss(5.0, 2.0) for _ in range(n)])
        assert interval.low is not None and interval.high is not None
        covered += interval.low <= 5.0 <= interval.high
    assert abs(covered / 2000 - 0.95) <= 0.015


def test_one_value_has_no_bounds():
    assert mean_interval([3.5]) == Interval(3.5, None, None, 1, note="one value says nothing about the spread")
    assert mean_interval([3.5]).half_width is None


def test_equal_values_have_an_interval_of_no_width():
    assert mean_interval([2.0, 2.0, 2.0]) == Interval(2.0, 2.0, 2.0, 3)


@pytest.mark.parametrize(
    ("values", "confidence", "text"),
    [
        ([], 0.95, "at least one value"),
        ([1.0, math.nan], 0.95, "value 1 of 2 is nan"),
        ([math.inf], 0.95, "value 0 of 1 is inf"),
        ([1.0], 95.0, "confidence 95.0 is not between 0 and 1"),
    ],
)
def test_what_has_no_interval_is_refused(values: list[float], confidence: float, text: str):
    with pytest.raises(ResultsError, match=text):
        mean_interval(values, confidence)
