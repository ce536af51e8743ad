"""Assumption checks against published values, and against data that keep or break them."""

import numpy as np
import polars as pl
import pytest
from datasets import film, iris, moore

from weft.statistics import manova
from weft.statistics.assumptions import Check, box_m, check_assumptions, levene, mardia, shapiro_wilk
from weft.statistics.design import design

FLOWER = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def cells_of(frame: pl.DataFrame, *factors: str) -> np.ndarray:
    return design(frame, factors).cells


def test_box_m_of_the_iris():
    # R, heplots::boxM(iris[, 1:4], iris$Species): chi-square 140.943, df 20, log determinants of setosa -13.067360,
    # versicolor -10.874325, virginica -8.927058, pooled -9.958539, so M = 147 x -9.958539 + 49 x 32.868743 = 146.663.
    f, chi_square = box_m(iris().select(FLOWER).to_numpy(), cells_of(iris(), "species"), "all")
    assert chi_square.statistic == pytest.approx(140.943, abs=5e-4)
    assert (chi_square.degrees, chi_square.is_judged) == (20, False)
    # F by hand (Box 1949): c1 = (3/49 - 1/147) 43/60 = 0.0390023, c2 = (3/49^2 - 1/147^2) 18/12 = 0.001804805,
    # c2 - c1^2 = 0.000283628, a2 = 22 / 0.000283628 = 77566, F = 146.663 (1 - c1 - 20/a2) / 20 = 7.045.
    assert f.statistic == pytest.approx(7.045, abs=5e-4)
    assert f.degrees == 20
    assert f.error_degrees == pytest.approx(77566.75, abs=1.0)
    assert f.p_value is not None and f.p_value < 1e-15


@pytest.mark.parametrize(
    ("species", "skewness", "skewness_p", "kurtosis", "kurtosis_p"),
    # R, MVN::mvn(mvnTest = "mardia"), as printed in S. Ray's course "Multivariate Probability Distributions in R".
    [
        ("setosa", 25.6643445196298, 0.177185884467652, 1.29499223711605, 0.195322907441935),
        (None, 67.4305087780629, 4.75799820400705e-07, -0.230112114480775, 0.818004651478188),
    ],
)
def test_mardia_of_the_iris(
    species: str | None, skewness: float, skewness_p: float, kurtosis: float, kurtosis_p: float
):
    frame = iris() if species is None else iris().filter(species=species)
    third, fourth = mardia(frame.select(FLOWER).to_numpy(), "all")
    assert (third.statistic, third.p_value) == (pytest.approx(skewness, rel=1e-9), pytest.approx(skewness_p, rel=1e-7))
    assert (fourth.statistic, fourth.p_value) == (
        pytest.approx(kurtosis, rel=1e-8),
        pytest.approx(kurtosis_p, rel=1e-7),
    )
    assert third.degrees == 20


def test_mardia_of_few_runs_is_corrected():
    # From the definitions: b1 = sum (x_i' S^-1 x_j)^3 / n^2 with S over n, and Mardia's factor of 1974 below 20 runs.
    values = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [7.0, 4.0], [4.0, 9.0], [1.0, 1.0]])
    n, p = values.shape
    centered = values - values.mean(axis=0)
    inverse = np.linalg.inv(centered.T @ centered / n)
    b1 = sum(float(a @ inverse @ b) ** 3 for a in centered for b in centered) / n**2
    k = (p + 1) * (n + 1) * (n + 3) / (n * ((n + 1) * (p + 1) - 6))
    assert k == pytest.approx(2.1)
    assert mardia(values, "all")[0].statistic == pytest.approx(k * n * b1 / 6, rel=1e-12)


@pytest.mark.parametrize(
    ("factors", "f", "degrees", "left", "p_value"),
    # R, help page of car::leveneTest (center = median): 0.046, p 0.9551; by both factors 1.4694, p 0.2219.
    [(["fcategory"], 0.046, 2, 42, 0.9551), (["fcategory", "status"], 1.4694, 5, 39, 0.2219)],
)
def test_brown_forsythe_of_moore(factors: list[str], f: float, degrees: int, left: int, p_value: float):
    values = moore()["conformity"].to_numpy().astype(float)
    found = levene(values, cells_of(moore(), *factors), "conformity")[0]
    assert found.statistic == pytest.approx(f, abs=5e-4 if f == 0.046 else 5e-5)
    assert (found.degrees, found.error_degrees) == (degrees, left)
    assert found.p_value == pytest.approx(p_value, abs=5e-5)


def test_levene_about_the_means_agrees_with_scipy():
    from scipy.stats import levene as theirs

    values = moore()["conformity"].to_numpy().astype(float)
    cells = cells_of(moore(), "fcategory", "status")
    groups = [values[cells == cell] for cell in range(6)]
    for center, found in zip(("median", "mean"), levene(values, cells, "v"), strict=True):
        other = theirs(*groups, center=center)
        assert (found.statistic, found.p_value) == pytest.approx((other.statistic, other.pvalue), rel=1e-9)


def test_box_m_of_one_response_is_bartletts_test():
    # With p = 1 both have the same M and c = (1/21 + 1/22 - 1/43) / 3; Bartlett takes M / (1 + c), Box M (1 - c).
    from scipy.stats import bartlett

    values = moore()["conformity"].to_numpy().astype(float)
    cells = cells_of(moore(), "status")
    other = bartlett(values[cells == 0], values[cells == 1])
    f, found = box_m(values[:, None], cells, "v")
    c = (1 / 21 + 1 / 22 - 1 / 43) / 3
    assert found.statistic is not None
    assert found.statistic / (1 - c) == pytest.approx(other.statistic * (1 + c), rel=1e-9)
    assert f.p_value == pytest.approx(other.pvalue, abs=5e-3)


def test_the_plastic_film_gives_no_doubt():
    found = manova(film(), ["tear", "gloss", "opacity"], ["rate", "additive"])
    assert found.assumptions.doubts == ()
    assert found.permuted == ()
    assert found.assumptions.verdict == "no assumption is doubtful at the 0.05 level"


def test_unequal_covariances_are_named_and_permuted():
    random = np.random.default_rng(2)
    noise = random.normal(size=(60, 2)) * np.repeat([1.0, 5.0, 1.0], 20)[:, None]
    frame = pl.DataFrame({"host": np.repeat(["a", "b", "c"], 20), "rate": noise[:, 0], "wait": noise[:, 1]})
    found = manova(frame, ["rate", "wait"], ["host"], permutations=99)
    doubts = found.assumptions.doubts
    assert doubts[0].startswith("equal covariances are doubtful: Box's M (F) = ")
    assert "(df 6, " in doubts[0] and doubts[0].endswith("p < 0.0001")
    assert any(text.startswith("equal variances of wait are doubtful: Brown-Forsythe = ") for text in doubts)
    assert [row.effect for row in found.permuted] == ["host"]
    assert all(text in found.text() for text in doubts)


def test_skewed_residuals_are_named():
    random = np.random.default_rng(4)
    frame = pl.DataFrame({"a": [0, 1] * 40, "v": random.lognormal(size=80), "w": random.lognormal(size=80)})
    doubts = manova(frame, ["v", "w"], ["a"], permutations=0).assumptions.doubts
    assert any(text.startswith("normal residuals are doubtful: Mardia skewness = ") for text in doubts)
    alone = manova(frame, ["v"], ["a"], permutations=0).assumptions
    assert [row.test for row in alone.rows] == ["Shapiro-Wilk", "Brown-Forsythe", "Levene"]
    assert any(text.startswith("normal residuals of v are doubtful: Shapiro-Wilk = ") for text in alone.doubts)


def test_what_cannot_be_tested_says_why():
    frame = film().group_by("rate", "additive", maintain_order=True).head(3)
    found = manova(frame, ["tear", "gloss", "opacity"], ["rate", "additive"])
    assert found.assumptions.verdict.endswith(
        "Box's M was not made: 3 responses need more than 3 runs in every cell, the smallest has 3"
    )
    pairs = levene(np.array([1.0, 2.0, 5.0, 7.0]), np.array([0, 0, 1, 1]), "v")
    assert all(row.p_value is None and "at least three runs" in row.note for row in pairs)
    assert shapiro_wilk(np.array([1.0, 2.0]), "v", True).note.startswith("it is known for 3 to 5000 runs, here are 2")


def test_several_responses_do_not_raise_more_alarms():
    # Holm over the responses: 8 normal responses give a doubt about variances in at most 5 % of 400 samples (s.d. 1 %).
    random = np.random.default_rng(8)
    names = list("abcdefgh")
    made = design(pl.DataFrame({"f": [0, 1] * 10}), ["f"])
    alarms = 0
    for _ in range(400):
        doubts = check_assumptions(made, names, random.normal(size=(20, 8))).doubts
        alarms += any(text.startswith("equal variances") for text in doubts)
    assert alarms / 400 <= 0.05 + 0.03


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_units_do_not_matter(unit: float):
    made = design(film(), ["rate", "additive"])
    values = film().select("tear", "gloss", "opacity").to_numpy()
    scaled = values * np.array([unit, 1.0, 1.0 / unit])
    for plain, other in zip(
        check_assumptions(made, list("abc"), values).rows,
        check_assumptions(made, list("abc"), scaled).rows,
        strict=True,
    ):
        assert plain.p_value is not None
        assert (other.statistic, other.p_value) == pytest.approx((plain.statistic, plain.p_value), rel=1e-8)


def test_a_check_is_plain_data():
    row = levene(np.array([1.0, 2.0, 4.0, 1.0, 5.0, 11.0]), np.array([0, 0, 0, 1, 1, 1]), "v")[0]
    assert isinstance(row, Check)
    # By hand: distances from the medians 2 and 5: 1 0 2 and 4 0 6; means 1 and 10/3, all 13/6;
    # between 6 (7/6)^2 = 49/6, within 2 + 56/3 = 62/3 on 4 degrees: F = (49/6) / (62/12) = 49/31.
    assert row.statistic == pytest.approx(49 / 31)
