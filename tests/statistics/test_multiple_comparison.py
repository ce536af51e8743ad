"""Adjusted p-values: the published list, another implementation, and the error rate of a family."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import ResultsError
from weft.statistics import benjamini_hochberg, holm

# Benjamini and Hochberg 1995, section 3.2: thrombolysis after myocardial infarction, 15 hypotheses.
PUBLISHED = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
             0.7590, 1.0]  # fmt: skip


def test_the_published_list_has_four_findings_by_false_discovery_rate_and_three_by_family():
    # In the paper: the procedure rejects the four smallest at 0.05 (0.0095 <= 4/15 0.05 = 0.013), Bonferroni three.
    assert sum(p_value <= 0.05 for p_value in benjamini_hochberg(PUBLISHED)) == 4
    assert sum(p_value <= 0.05 for p_value in holm(PUBLISHED)) == 3


def test_adjusted_values_by_hand():
    # Holm: 4 x 0.005, 3 x 0.01, 2 x 0.03, then no smaller: 0.06. Benjamini-Hochberg: 4/1 x 0.005, 4/2 x 0.01,
    # 4/3 x 0.03, 4/4 x 0.04; from above none larger than the next.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_statsmodels_gives_the_same(p_values: list[float]):
    from statsmodels.stats.multitest import multipletests

    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())
    assert benjamini_hochberg(p_values) == pytest.approx(multipletests(p_values, method="fdr_bh")[1].tolist())


def test_a_family_of_nothing_finds_something_at_the_level():
    # 12 independent true hypotheses: Holm's chance of any finding is 1 - (1 - 0.05 / 12)^12 = 4.9 %; 2000 families.
    generator = random.Random(3)
    found = sum(min(holm([generator.random() for _ in range(12)])) <= 0.05 for _ in range(2000))
    assert abs(found / 2000 - 0.049) <= 3 * 0.0049


def test_one_test_is_no_family():
    assert holm([0.03]) == benjamini_hochberg([0.03]) == [0.03]
    assert holm([]) == benjamini_hochberg([]) == []


def test_what_is_no_probability_is_refused():
    with pytest.raises(ResultsError, match="p-value 1 is 1.5"):
        holm([0.5, 1.5])
