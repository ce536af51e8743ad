"""Differences of means: published worked examples, closed forms, and coverage on data whose truth is known."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import ResultsError
from weft.statistics.paired import contrast, difference, differences, student_t_of

# Student 1908: hours of sleep gained by ten patients with two drugs; `sleep` of R.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]

VALUES = st.floats(1.0, 1e3)
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=12)


def test_students_sleep_data_in_pairs():
    # R, t.test(extra ~ group, paired = TRUE): t = 4.0621, df = 9, p = 0.002833, 0.7001142 to 2.4598858, mean 1.58.
    found = difference(FIRST, SECOND)
    assert found.difference == pytest.approx(1.58, abs=1e-12)
    assert found.t == pytest.approx(4.0621, abs=5e-5)
    assert found.degrees == 9
    assert found.p_value == pytest.approx(0.002833, abs=5e-7)
    assert (found.low, found.high) == pytest.approx((0.7001142, 2.4598858), abs=5e-8)


def test_students_sleep_data_unpaired():
    # R, t.test(extra ~ group): t = 1.8608, df = 17.776, p = 0.07939, -0.2054832 to 3.3654832.
    found = difference(FIRST, SECOND, is_paired=False)
    assert found.t == pytest.approx(1.8608, abs=5e-5)
    assert found.degrees == pytest.approx(17.776, abs=5e-4)
    assert found.p_value == pytest.approx(0.07939, abs=5e-6)
    assert (found.low, found.high) == pytest.approx((-0.2054832, 3.3654832), abs=5e-8)


@pytest.mark.parametrize("is_paired", [True, False])
def test_at_the_ends_of_the_ratio_the_contrast_is_just_significant(is_paired: bool):
    reference, other = [10.0, 12.0, 9.0, 11.0, 13.0], [11.0, 13.5, 9.0, 12.5, 14.0]
    found = difference(reference, other, 0.9, is_paired)
    assert found.ratio == pytest.approx(60.0 / 55.0)
    for end in (found.ratio_low, found.ratio_high):
        assert end is not None
        at_end = contrast(reference, other, end, is_paired)
        critical = student_t_of(contrast(reference, other, 1.0, is_paired).degrees, 0.9)
        assert abs(at_end.value / at_end.standard_error) == pytest.approx(critical, rel=1e-9)


def test_a_ratio_to_something_that_may_be_zero_has_no_bounds():
    found = difference([1.0, -1.0, 1.5, -1.0], [2.0, 2.5, 1.0, 2.0])
    assert found.ratio is not None and found.ratio_low is None and found.ratio_high is None
    assert difference([0.0, 0.0], [1.0, 2.0]).ratio is None


@pytest.mark.parametrize("is_paired", [True, False])
def test_coverage_of_difference_and_ratio(is_paired: bool):
    # Means 10 and 11; 2000 replications, 95 +- 1.5 % (one standard deviation of the share is 0.49 %).
    generator = random.Random(24)
    of_difference = of_ratio = 0
    for _ in range(2000):
        shared = [generator.gauss(0.0, 1.0) if is_paired else 0.0 for _ in range(8)]
        reference = [10.0 + common + generator.gauss(0.0, 1.0) for common in shared]
        other = [11.0 + common + generator.gauss(0.0, 1.0 if is_paired else 2.0) for common in shared]
        found = difference(reference, other, 0.95, is_paired)
        assert found.low is not None and found.high is not None
        assert found.ratio_low is not None and found.ratio_high is not None
        of_difference += found.low <= 1.0 <= found.high
        of_ratio += found.ratio_low <= 1.1 <= found.ratio_high
    assert abs(of_difference / 2000 - 0.95) <= 0.015
    assert abs(of_ratio / 2000 - 0.95) <= 0.015


@given(PAIRS, st.booleans())
def test_swapping_the_sides_turns_the_sign(pairs: list[tuple[float, float]], is_paired: bool):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = difference(first, second, 0.95, is_paired), difference(second, first, 0.95, is_paired)
    assert there.difference == -back.difference
    assert there.p_value == pytest.approx(back.p_value)
    assert there.low is not None and back.high is not None
    assert there.low == pytest.approx(-back.high, rel=1e-9, abs=1e-9)


@given(st.lists(VALUES, min_size=2, max_size=12))
def test_a_sample_does_not_differ_from_itself(values: list[float]):
    found = difference(values, values)
    assert found.is_zero and found.p_value == 1.0 and found.ratio == 1.0


def test_rounding_is_no_difference():
    found = difference([0.3, 0.6, 0.9], [0.1 + 0.2, 0.2 + 0.4, 0.2 + 0.7])
    assert found.is_zero and found.p_value == 1.0
    assert differences([0.3], [0.1 + 0.2]) == [0.0]


def test_a_difference_without_spread_is_certain():
    found = difference([10.0, 20.0], [11.0, 21.0])
    assert (found.difference, found.low, found.high, found.p_value, found.t) == (1.0, 1.0, 1.0, 0.0, None)


def test_one_repeat_has_numbers_but_no_bounds():
    found = difference([10.0], [11.0])
    assert (found.difference, found.ratio, found.low, found.high, found.p_value) == (1.0, 1.1, None, None, None)
    assert not difference([10.0], [10.0]).is_zero


@pytest.mark.parametrize(
    ("reference", "other", "confidence", "text"),
    [
        ([], [1.0], 0.95, "the reference has none"),
        ([1.0], [], 0.95, "the other has none"),
        ([1.0, float("nan")], [1.0, 2.0], 0.95, "value 1 of the reference is nan"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], 0.95, "2 values cannot be paired with 3"),
        ([1.0, 2.0], [1.0, 2.0], 95.0, "confidence 95.0 is not between 0 and 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(reference: list[float], other: list[float], confidence: float, text: str):
    with pytest.raises(ResultsError, match=text):
        difference(reference, other, confidence)


def test_a_contrast_of_single_values_is_refused():
    with pytest.raises(ResultsError, match="at least two repeats"):
        contrast([1.0], [2.0], 1.0, is_paired=True)
