"""Effect sizes, by hand."""

import math

import pytest

from weft.errors import ResultsError
from weft.statistics import cliffs_delta, cohens_dz, hedges_g


def test_cohens_dz_by_hand():
    # Student's sleep data: mean difference 1.58, standard deviation 1.229995 (t = d_z sqrt(10) = 4.0621).
    gained = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    assert cohens_dz(gained) == pytest.approx(4.0621 / math.sqrt(10.0), abs=2e-5)


def test_hedges_g_by_hand():
    # Means 2 and 4, pooled standard deviation 1, so d = 2; 4 degrees of freedom: Gamma(2) / (sqrt(2) Gamma(1.5)) =
    # 1 / (sqrt(2) sqrt(pi) / 2) = sqrt(2 / pi).
    assert hedges_g([1.0, 2.0, 3.0], [3.0, 4.0, 5.0]) == pytest.approx(2.0 * math.sqrt(2.0 / math.pi))


def test_hedges_correction_is_near_the_approximation_of_his_paper():
    # 1 - 3 / (4 m - 1) with m degrees of freedom, off by less than 0.001 from 10 on.
    reference, other = [float(value) for value in range(10)], [float(value) + 2.0 for value in range(10)]
    d = 2.0 / math.sqrt(sum((value - 4.5) ** 2 for value in reference) / 9)
    assert hedges_g(reference, other) == pytest.approx(d * (1 - 3 / (4 * 18 - 1)), rel=1e-3)


def test_cliffs_delta_by_hand():
    # Of 3 x 3 comparisons 6 are above, 2 equal, 1 below: 5/9.
    assert cliffs_delta([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]) == pytest.approx(5 / 9)
    assert cliffs_delta([1.0, 2.0], [3.0, 4.0]) == 1.0
    assert cliffs_delta([3.0, 4.0], [1.0, 2.0]) == -1.0
    assert cliffs_delta([1.0, 2.0], [1.0, 2.0]) == 0.0


def test_without_spread_there_is_no_size_but_for_no_difference():
    assert cohens_dz([1.0, 1.0]) is None
    assert cohens_dz([0.0, 0.0]) == 0.0
    assert cohens_dz([1.0]) is None
    assert hedges_g([1.0, 1.0], [2.0, 2.0]) is None
    assert hedges_g([1.0, 1.0], [1.0, 1.0]) == 0.0
    assert hedges_g([1.0], [2.0]) is None


def test_nothing_has_no_effect_size():
    with pytest.raises(ResultsError, match="at least one value"):
        cohens_dz([])
    with pytest.raises(ResultsError, match="not finite"):
        cliffs_delta([1.0], [math.nan])
