"""Oracle 24: the Jain index has closed forms."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import ResultsError
from weft.statistics import jain


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_equal_shares_are_fair(n: int):
    assert jain([3.7] * n) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("some", "n"), [(1, 1), (1, 16), (5, 16), (99, 100)])
def test_equal_shares_for_some_and_nothing_for_the_rest(some: int, n: int):
    assert jain([2.5] * some + [0.0] * (n - some)) == pytest.approx(some / n, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_shares_one_to_n(n: int):
    # (n(n+1)/2)^2 / (n * n(n+1)(2n+1)/6) = 3(n+1) / (2(2n+1)).
    assert jain([float(i) for i in range(1, n + 1)]) == pytest.approx(3 * (n + 1) / (2 * (2 * n + 1)), abs=1e-12)


def test_nobody_got_anything_is_fair():
    assert jain([0.0, 0.0]) == 1.0


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=50), st.floats(1e-6, 1e6))
def test_index_is_bounded_and_has_no_unit(shares: list[float], unit: float):
    index = jain(shares)
    assert 1 / len(shares) - 1e-9 <= index <= 1 + 1e-9
    # Scaling may turn a share below the smallest normal number into zero: such shares do not count.
    if all(share == 0 or share > 1e-200 for share in shares):
        assert jain([share * unit for share in shares]) == pytest.approx(index, abs=1e-9)


@pytest.mark.parametrize("shares", [[], [-1.0], [math.nan, 1.0]])
def test_what_is_no_share_is_refused(shares: list[float]):
    with pytest.raises(ResultsError, match="Jain index|share"):
        jain(shares)
