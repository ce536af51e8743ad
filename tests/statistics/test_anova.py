"""Analysis of variance against published worked examples, small ones by hand, and statsmodels."""

import polars as pl
import pytest
from datasets import moore

from weft.errors import ResultsError
from weft.statistics import anova


@pytest.mark.parametrize(
    ("type", "source", "sum_of_squares", "f", "p_value"),
    # R, help page of car::Anova: Moore data, unequal cells, contrasts sum to zero.
    [
        (2, "fcategory", 11.61, 0.2770, 0.759564),
        (2, "status", 212.21, 10.1207, 0.002874),
        (2, "fcategory × status", 175.49, 4.1846, 0.022572),
        (3, "fcategory", 36.0, 0.8589, 0.431492),
        (3, "status", 239.6, 11.4250, 0.001657),
        (3, "fcategory × status", 175.5, 4.1846, 0.022572),
    ],
)
def test_unequal_cells(type: int, source: str, sum_of_squares: float, f: float, p_value: float):
    found = anova(moore(), "conformity", ["fcategory", "status"], type=type)
    row = found.row(source)
    assert row.sum_of_squares == pytest.approx(sum_of_squares, abs=5e-3 if type == 2 else 5e-2)
    assert row.f == pytest.approx(f, abs=5e-5)
    assert row.p_value == pytest.approx(p_value, abs=5e-7)
    assert (found.row("error").sum_of_squares, found.row("error").degrees) == (pytest.approx(817.76, abs=5e-3), 39)
    # summary(lm): R-squared 0.3237, adjusted 0.237, F 3.734 on 5 and 39, p 0.007397.
    assert (found.r_squared, found.adjusted_r_squared) == pytest.approx((0.3237, 0.2370), abs=5e-5)
    model = found.row("corrected model")
    assert (model.f, model.p_value, model.degrees) == (
        pytest.approx(3.734, abs=5e-4),
        pytest.approx(0.007397, abs=5e-7),
        5,
    )


@pytest.mark.parametrize("type", [2, 3])
def test_a_balanced_design_by_hand(type: int):
    # Cells (a, b): 1 3 | 4 6 // 5 7 | 12 14; means 2, 5, 6, 13; grand mean 6.5. Means of a 3.5, 9.5, of b 4, 9.
    # SS a = 8 x 9 = 72; SS b = 8 x 6.25 = 50; interaction: deviations +-1, 8 x 1 = 8; error 8 x 1 = 8, df 4, MS 2.
    # Partial eta squared 72/80; omega squared (72 - 2) / (138 + 2) = 0.5.
    frame = pl.DataFrame({"a": ["x"] * 4 + ["y"] * 4, "b": [0, 0, 1, 1] * 2, "v": [1, 3, 4, 6, 5, 7, 12, 14]})
    found = anova(frame, "v", ["a", "b"], type=type)
    assert found.is_balanced
    assert [row.sum_of_squares for row in found.rows] == pytest.approx([130, 72, 50, 8, 8, 138])
    assert [row.f for row in found.rows[1:4]] == pytest.approx([36, 25, 4])
    assert found.row("a").partial_eta_squared == pytest.approx(0.9)
    assert found.row("a").omega_squared == pytest.approx(0.5)


@pytest.mark.parametrize(("type", "names"), [(2, ["a", "b", "c"]), (3, ["c", "a", "b"])])
def test_three_factors_agree_with_statsmodels(type: int, names: list[str]):
    import numpy as np
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    random = np.random.default_rng(11)
    codes = [(a, b, c) for a in range(2) for b in range(3) for c in range(2) for _ in range(int(random.integers(1, 5)))]
    frame = pl.DataFrame({name: [code[place] for code in codes] for place, name in enumerate("abc")})
    frame = frame.with_columns(v=random.normal(size=len(codes)) * 1e9 + frame["a"].to_numpy() * 5e8 + 1e10)
    fit = ols("v ~ C(a, Sum) * C(b, Sum) * C(c, Sum)", data=pd.DataFrame(frame.to_dict(as_series=False))).fit()
    theirs = {
        frozenset(part[2] for part in name.split(":")): row
        for name, row in anova_lm(fit, typ=type).iterrows()
        if name.startswith("C(")
    }
    found = anova(frame, "v", names, type=type)
    assert len(theirs) == 7
    for row in found.rows[1:-2]:
        other = theirs[frozenset(row.source.split(" × "))]
        assert row.f == pytest.approx(other["F"], rel=1e-7)
        assert row.p_value == pytest.approx(other["PR(>F)"], rel=1e-6)
        assert row.degrees == other["df"]


def test_an_effect_that_is_not_there_has_an_omega_squared_of_zero_on_average():
    import numpy as np

    random = np.random.default_rng(5)
    frame = pl.DataFrame({"a": ["x", "y", "z"] * 8})
    found = [
        anova(frame.with_columns(v=random.normal(size=24)), "v", ["a"]).row("a").omega_squared or 0.0
        for _ in range(400)
    ]
    # The standard deviation of one is about 0.08, of the mean 0.004.
    assert abs(np.mean(found)) < 0.012
    assert min(found) < 0.0


def test_order_leaves_out_interactions():
    found = anova(moore(), "conformity", ["fcategory", "status"], order=1)
    assert [row.source for row in found.rows] == ["corrected model", "fcategory", "status", "error", "corrected total"]
    # Type III without interactions is type II.
    assert found.row("fcategory").sum_of_squares == pytest.approx(11.61, abs=5e-3)


def test_a_constant_response_and_a_source_that_is_not_there_are_refused():
    frame = moore().with_columns(same=pl.lit(7))
    with pytest.raises(ResultsError, match='"same" is 7 in every run'):
        anova(frame, "same", ["status"])
    with pytest.raises(ResultsError, match='no source "x"; this table has corrected model, status'):
        anova(frame, "conformity", ["status"]).row("x")


def test_the_text_is_a_table():
    text = anova(moore(), "conformity", ["fcategory", "status"]).text()
    assert text.splitlines()[0] == (
        "conformity: sums of squares of type III (unequal cells), sum-to-zero coding, 45 runs"
    )
    assert "status              239.6   1  239.6   11.42  0.0017       0.227     0.178" in text
    assert text.endswith("R² = 0.3237, adjusted 0.2370")
