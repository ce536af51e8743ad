"""Two one-sided tests: a case by hand, the interval that they are, and their error rates."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import ResultsError
from weft.statistics import difference, equivalence


def test_two_one_sided_tests_by_hand():
    # Differences 0.1, -0.1, 0.2, 0: mean 0.05, variance 0.05 / 3, standard error sqrt(0.05 / 12) = 0.0645497.
    # Margin 0.3: the nearer bound is (0.3 - 0.05) / 0.0645497 = sqrt(15) standard errors away. With 3 degrees of
    # freedom P(T > t) = 1/2 - (x / (1 + x^2) + atan x) / pi, x = t / sqrt(3) = sqrt(5).
    x = math.sqrt(5.0)
    expected = 0.5 - (x / 6.0 + math.atan(x)) / math.pi
    assert expected == pytest.approx(0.015233, abs=5e-7)
    found = equivalence([5.0, 6.0, 7.0, 8.0], [5.1, 5.9, 7.2, 8.0], 0.3, is_relative=False)
    assert found.p_within == pytest.approx(expected, rel=1e-9)
    assert found.p_above == pytest.approx(1.0 - expected, rel=1e-9)


@given(
    st.lists(st.tuples(st.floats(50.0, 60.0), st.floats(50.0, 60.0)), min_size=2, max_size=10),
    st.floats(0.001, 0.3),
    st.sampled_from([0.01, 0.05, 0.1]),
)
def test_equivalent_means_that_the_interval_of_the_ratio_is_inside(
    pairs: list[tuple[float, float]], margin: float, level: float
):
    reference, other = [a for a, _ in pairs], [b for _, b in pairs]
    found = difference(reference, other, 1.0 - 2.0 * level)
    if found.ratio_low is None or found.ratio_high is None:
        return
    p_within = equivalence(reference, other, margin).p_within
    if abs(p_within - level) < 1e-9:
        return
    assert (p_within < level) == (1.0 - margin < found.ratio_low and found.ratio_high < 1.0 + margin)


@pytest.mark.parametrize("is_paired", [True, False])
@pytest.mark.parametrize("truth", [1.05, 0.95])
def test_at_the_margin_neither_within_nor_beyond_is_claimed_too_often(is_paired: bool, truth: float):
    # The true ratio is the margin itself, so either claim is an error: at most 5 % of 2000, plus 3 standard deviations
    # (0.49 % each). The reference varies by 20 % of its mean, which a margin taken as a fixed number would ignore.
    generator = random.Random(f"{is_paired} {truth}")
    within = beyond = 0
    for _ in range(2000):
        reference = [generator.gauss(100.0, 20.0 if is_paired else 3.0) for _ in range(10)]
        source = reference if is_paired else [generator.gauss(100.0, 3.0) for _ in range(10)]
        other = [truth * value + generator.gauss(0.0, 2.0) for value in source]
        found = equivalence(reference, other, 0.05, is_paired=is_paired)
        within += found.p_within <= 0.05
        beyond += (found.p_above if truth > 1 else found.p_below) <= 0.05
    assert within / 2000 <= 0.05 + 3 * 0.0049
    assert beyond / 2000 <= 0.05 + 3 * 0.0049
    # The tests are exact there, not merely safe.
    assert within / 2000 >= 0.03 and beyond / 2000 >= 0.03


def test_a_margin_of_nothing_is_never_met():
    assert equivalence([1.0, 2.0, 3.0], [1.0, 2.1, 2.9], 0.0).p_within >= 0.5


@pytest.mark.parametrize(("margin", "is_relative"), [(-0.1, True), (1.0, True), (-1.0, False)])
def test_a_margin_that_is_none_is_refused(margin: float, is_relative: bool):
    with pytest.raises(ResultsError, match="margin"):
        equivalence([1.0, 2.0], [1.0, 2.0], margin, is_relative)
