"""MANOVA against published worked examples, and against what must hold for any data."""

import math
import random
import re

import numpy as np
import polars as pl
import pytest
from datasets import film, moore, obrien_kaiser, rootstock, soils
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ResultsError
from weft.statistics import anova, manova

FILM = ["tear", "gloss", "opacity"]
TREES = ["girth4", "ext4", "girth15", "weight15"]


@pytest.mark.parametrize("type", [2, 3])
@pytest.mark.parametrize(
    ("effect", "wilks", "pillai", "f", "p_value"),
    # Johnson and Wichern, Applied Multivariate Statistical Analysis, example 6.13, print lambda .3819, .5230, .7771 and
    # F 7.55, 4.26, 1.34 on 3 and 14 degrees; R, car::Anova on the same data (heplots, help page of Plastic), Pillai,
    # F and p to four and more digits.
    [
        ("rate", 0.3819, 0.61814, 7.5543, 0.003034),
        ("additive", 0.5230, 0.47697, 4.2556, 0.024745),
        ("rate × additive", 0.7771, 0.22289, 1.3385, 0.301782),
    ],
)
def test_plastic_film(type: int, effect: str, wilks: float, pillai: float, f: float, p_value: float):
    found = manova(film(), FILM, ["rate", "additive"], type=type)
    assert found.row(effect, "Wilks").value == pytest.approx(wilks, abs=5e-5)
    assert found.row(effect, "Pillai").value == pytest.approx(pillai, abs=5e-6)
    for criterion in ("Wilks", "Pillai", "Hotelling", "Roy"):
        row = found.row(effect, criterion)
        assert (row.degrees, row.error_degrees, row.quality) == (3, 14, "exact")
        assert row.f == pytest.approx(f, abs=5e-5)
        assert row.p_value == pytest.approx(p_value, abs=5e-7)


def test_plastic_film_between_subjects():
    # Johnson and Wichern, panel 6.1 (SAS): sums of squares 1.7405, .7605, .0005, error 1.7640, total 4.2655 of tear.
    tear = manova(film(), FILM, ["rate", "additive"]).between[0]
    sums = [row.sum_of_squares for row in tear.rows]
    assert sums == pytest.approx([2.5015, 1.7405, 0.7605, 0.0005, 1.7640, 4.2655], abs=5e-5)
    assert tear.row("rate").f == pytest.approx(15.79, abs=5e-3)
    assert tear.row("additive").p_value == pytest.approx(0.0183, abs=5e-5)
    assert tear.r_squared == pytest.approx(0.586449, abs=5e-7)


def test_root_stocks():
    # Rencher, Methods of Multivariate Analysis, examples 6.1.7 and 6.1.8: lambda .154, Pillai 1.305, Lawley-Hotelling
    # 2.921, Roy 1.876 (the eigenvalues are 1.876, .791, .229, .026). R, car::Anova (heplots, help page of RootStock):
    # Pillai 1.3055, F 4.0697 on 20 and 168 degrees, p 1.983e-07.
    found = manova(rootstock(), TREES, ["rootstock"], permutations=0)
    values = [row.value for row in found.rows]
    assert values == pytest.approx([0.154, 1.305, 2.921, 1.876], abs=1e-3)
    pillai = found.row("rootstock", "Pillai")
    assert pillai.value == pytest.approx(1.3055, abs=5e-5)
    assert pillai.f == pytest.approx(4.0697, abs=5e-5)
    assert (pillai.degrees, pillai.error_degrees, pillai.quality) == (20, 168, "approximate")
    assert pillai.p_value == pytest.approx(1.983e-07, rel=5e-4)
    assert found.row("rootstock", "Roy").quality == "upper bound"


def test_f_of_all_criteria():
    # Stata, manova y1 y2 y3 = grp, as printed in the FAQ on profile analysis of UCLA's statistics group.
    text = """19 20 18  20 21 19  19 22 22  18 19 21  16 18 20  17 22 19  20 19 20  15 19 19
              12 14 12  15 15 17  15 17 15  13 14 14  14 16 13
              15 14 17  13 14 15  12 15 15  12 13 13
              8 9 10  10 10 12  11 10 10  11 7 12"""
    numbers = [int(number) for number in text.split()]
    group = [1] * 8 + [2] * 5 + [3] * 4 + [4] * 4
    frame = pl.DataFrame({"grp": group, "y1": numbers[::3], "y2": numbers[1::3], "y3": numbers[2::3]})
    printed = {
        "Wilks": (0.0479, 9.0, 36.7, 10.12),
        "Pillai": (1.1609, 9.0, 51.0, 3.58),
        "Hotelling": (15.6417, 9.0, 41.0, 23.75),
        "Roy": (15.3753, 3.0, 17.0, 87.13),
    }
    found = manova(frame, ["y1", "y2", "y3"], ["grp"], permutations=0)
    for criterion, (value, degrees, left, f) in printed.items():
        row = found.row("grp", criterion)
        assert row.value == pytest.approx(value, abs=5e-5)
        assert row.degrees == degrees
        assert row.error_degrees == pytest.approx(left, abs=0.05)
        assert row.f == pytest.approx(f, abs=5e-3)
    assert found.row("grp", "Pillai").p_value == pytest.approx(0.0016, abs=5e-5)


@pytest.mark.parametrize(
    ("type", "effect", "pillai", "f", "degrees", "left", "p_value"),
    # Unequal cells. R, help page of car::Anova: the multivariate tests of phase by treatment and gender are MANOVAs of
    # two contrasts of the phases. Type III: Fox, Friendly and Weisberg, "Hypothesis tests for multivariate linear
    # models using the car package", The R Journal 5, 2013.
    [
        (2, "treatment", 0.68518, 2.61, 4, 20, 0.0667354),
        (2, "gender", 0.04314, 0.20, 2, 9, 0.8199968),
        (2, "treatment × gender", 0.31060, 0.92, 4, 20, 0.4721498),
        (3, "treatment", 0.696, 2.7, 4, 20, 0.06211),
        (3, "gender", 0.066, 0.3, 2, 9, 0.73497),
        (3, "treatment × gender", 0.311, 0.9, 4, 20, 0.47215),
    ],
)
def test_unequal_cells(type: int, effect: str, pillai: float, f: float, degrees: int, left: int, p_value: float):
    frame = obrien_kaiser().select(
        "treatment", "gender", post=pl.col("post") - pl.col("pre"), followup=pl.col("followup") - pl.col("pre")
    )
    row = manova(frame, ["post", "followup"], ["treatment", "gender"], type=type, permutations=0).row(effect, "Pillai")
    # Two digits more than printed would be ours: half a unit of the last printed digit.
    assert row.value == pytest.approx(pillai, abs=5e-6 if type == 2 else 5e-4)
    assert row.f == pytest.approx(f, abs=5e-3 if type == 2 else 5e-2)
    assert (row.degrees, row.error_degrees) == (degrees, left)
    assert row.p_value == pytest.approx(p_value, abs=5e-8 if type == 2 else 5e-6)


@pytest.mark.parametrize(
    ("effect", "pillai", "f", "degrees", "left", "p_value"),
    # R, help page of car::Anova: Manova(lm(nine measures ~ Block + Contour * Depth, data = Soils)).
    [
        ("block", 1.6758, 3.7965, 27, 81, 1.777e-06),
        ("contour", 1.3386, 5.8468, 18, 52, 2.730e-07),
        ("depth", 1.7951, 4.4697, 27, 81, 8.777e-08),
        ("contour × depth", 1.2351, 0.8640, 54, 180, 0.7311),
    ],
)
def test_blocks_and_nine_responses(effect: str, pillai: float, f: float, degrees: int, left: int, p_value: float):
    measures = soils().columns[3:]
    row = manova(soils(), measures, ["contour", "depth"], block="block", permutations=0).row(effect, "Pillai")
    assert row.value == pytest.approx(pillai, abs=5e-5)
    assert row.f == pytest.approx(f, abs=5e-5)
    assert (row.degrees, row.error_degrees) == (degrees, left)
    assert row.p_value == pytest.approx(p_value, rel=3e-4)


def test_one_way_agrees_with_statsmodels():
    # With one factor any coding spans the same space, so statsmodels is right there. Its F of the Hotelling-Lawley
    # trace is McKeon's, ours Pillai's, like that of R, SPSS and Stata.
    import pandas as pd
    from statsmodels.multivariate.manova import MANOVA

    frame = rootstock()
    theirs = MANOVA.from_formula(
        "girth4 + ext4 + girth15 + weight15 ~ C(rootstock)", data=pd.DataFrame(frame.to_dict(as_series=False))
    )
    table = theirs.mv_test().results["C(rootstock)"]["stat"]
    for row, (_, other) in zip(manova(frame, TREES, ["rootstock"], permutations=0).rows, table.iterrows(), strict=True):
        assert row.value == pytest.approx(other["Value"], rel=1e-9)
        if not row.criterion.startswith("Hotelling"):
            assert row.f == pytest.approx(other["F Value"], rel=1e-9)
            assert row.p_value == pytest.approx(other["Pr > F"], rel=1e-6)


def test_interactions_agree_with_statsmodels_once_it_is_told_to_code_to_zero():
    # The default coding of statsmodels gives other main effects (its issues 6464 and 8713); `Sum` gives type III.
    import pandas as pd
    from statsmodels.multivariate.manova import MANOVA

    frame = film()[:-1]  # 19 runs: unequal cells
    data = pd.DataFrame(frame.to_dict(as_series=False))
    found = manova(frame, FILM, ["rate", "additive"], permutations=0)
    coded = MANOVA.from_formula("tear + gloss + opacity ~ C(rate, Sum) * C(additive, Sum)", data=data).mv_test().results
    naive = MANOVA.from_formula("tear + gloss + opacity ~ C(rate) * C(additive)", data=data).mv_test().results
    row = found.row("rate", "Wilks")
    assert row.value == pytest.approx(coded["C(rate, Sum)"]["stat"].loc["Wilks' lambda", "Value"], rel=1e-9)
    assert abs(row.value - naive["C(rate)"]["stat"].loc["Wilks' lambda", "Value"]) > 0.05


def test_one_response_is_the_analysis_of_variance():
    table = anova(moore(), "conformity", ["fcategory", "status"])
    found = manova(moore(), ["conformity"], ["fcategory", "status"], permutations=0)
    for effect in ("fcategory", "status", "fcategory × status"):
        for criterion in ("Wilks", "Pillai", "Hotelling", "Roy"):
            row = found.row(effect, criterion)
            assert row.f == pytest.approx(table.row(effect).f, rel=1e-12)
            assert row.p_value == pytest.approx(table.row(effect).p_value, rel=1e-9)
            assert row.quality == "exact"
    assert found.between == (table,)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([2, 3]))
def test_tests_do_not_depend_on_units_and_mixtures(seed: int, type: int):
    # All four criteria are invariant under any invertible linear map of the responses, and under adding constants.
    generator = np.random.default_rng(seed)
    codes = [(a, b) for a in range(3) for b in range(2) for _ in range(int(generator.integers(2, 6)))]
    values = generator.normal(size=(len(codes), 3))
    scaled = (values + np.array([5.0, 1e3, -4.0])) @ np.diag([1e9, 1.0, 1e-6])

    def tested(matrix: np.ndarray) -> list[float]:
        columns = {name: matrix[:, place] for place, name in enumerate("xyz")}
        frame = pl.DataFrame({"a": [a for a, _ in codes], "b": [b for _, b in codes], **columns})
        return [row.value for row in manova(frame, list("xyz"), ["a", "b"], type=type, permutations=0).rows]

    assert tested(scaled) == pytest.approx(tested(values), rel=1e-7)
    turned = values @ np.array([[2.0, 1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, 3.0]])
    assert tested(turned) == pytest.approx(tested(values), rel=1e-7)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_equal_cells_make_type_two_and_three_the_same(seed: int):
    generator = np.random.default_rng(seed)
    codes = [(a, b, c) for a in range(2) for b in range(3) for c in range(2) for _ in range(2)]
    columns = {name: generator.normal(size=len(codes)) for name in "xy"}
    frame = pl.DataFrame({**{name: [code[place] for code in codes] for place, name in enumerate("abc")}, **columns})
    second, third = (manova(frame, ["x", "y"], ["a", "b", "c"], type=type, permutations=0) for type in (2, 3))
    assert [row.value for row in second.rows] == pytest.approx([row.value for row in third.rows], rel=1e-9)
    # And the effects share the model between them.
    for table in third.between:
        effects = math.fsum(row.sum_of_squares for row in table.rows[1:-2])
        assert effects == pytest.approx(table.rows[0].sum_of_squares, rel=1e-9)


def test_a_wilks_test_errs_as_often_as_it_says():
    # Nothing differs: 2000 replications of 2 x 2 cells of 6 runs reject 5 % (standard deviation 0.49 %).
    generator = np.random.default_rng(7)
    codes = [(a, b) for a in range(2) for b in range(2) for _ in range(6)]
    from weft.statistics.criteria import criteria
    from weft.statistics.design import design
    from weft.statistics.manova import roots_of

    made = design(pl.DataFrame({"a": [a for a, _ in codes], "b": [b for _, b in codes]}), ["a", "b"])
    whole = made.basis(made.terms)
    owned = [made.own(term)[1] for term in made.terms]
    rejected = np.zeros(3)
    for _ in range(2000):
        values = generator.normal(size=(24, 3))
        triangle = np.linalg.qr(values - whole @ (whole.T @ values), mode="r")
        for place, own in enumerate(owned):
            row = criteria("", roots_of(own.T @ values, triangle), 3, 1, 20)[0]
            assert row.p_value is not None
            rejected[place] += row.p_value < 0.05
    assert np.all(np.abs(rejected / 2000 - 0.05) <= 0.015)


def test_a_block_takes_its_share_of_the_error():
    # A randomized complete block design: one run per cell and block; F of type III is the classic one, by hand.
    # Cells (rows) a, b; blocks 1..3: a = 1, 2, 6; b = 2, 5, 8. Means 3 and 5, blocks 1.5, 3.5, 7, all 4.
    # SS a = 6 x 1 = 6; SS block = 2 (6.25 + .25 + 9) = 31; total = 9 + 4 + 4 + 4 + 1 + 16 = 38; error 1 on 2 degrees.
    frame = pl.DataFrame({"kind": ["a"] * 3 + ["b"] * 3, "repeat": [1, 2, 3] * 2, "v": [1.0, 2, 6, 2, 5, 8]})
    blocked = anova(frame, "v", ["kind"], block="repeat")
    assert blocked.row("repeat").sum_of_squares == pytest.approx(31.0)
    assert blocked.row("error").sum_of_squares == pytest.approx(1.0)
    assert blocked.row("kind").f == pytest.approx(12.0)
    assert anova(frame, "v", ["kind"]).row("kind").f == pytest.approx(6.0 / (32.0 / 4.0))


def refused(frame: pl.DataFrame, responses: list[str], factors: list[str], **options: object) -> str:
    with pytest.raises(ResultsError) as raised:
        manova(frame, responses, factors, **options)  # type: ignore[arg-type]
    return str(raised.value)


def frame_of(repeats: int = 4) -> pl.DataFrame:
    generator = random.Random(3)
    runs = 4 * repeats
    data: dict[str, object] = {"a": ["x", "y"] * (runs // 2), "b": ([1] * (runs // 2) + [2] * (runs // 2))}
    data |= {name: [generator.gauss(0, 1) for _ in range(runs)] for name in ("u", "v", "w")}
    return pl.DataFrame(data)


def test_responses_without_information_are_refused():
    frame = frame_of()
    frame = frame.with_columns(
        constant=pl.lit(1e9),
        sum=2 * pl.col("u") - pl.col("v"),
        cell=(pl.col("a") == "x").cast(pl.Float64) + pl.col("b"),
    )
    assert refused(frame, ["u", "constant"], ["a"]) == (
        '"constant" is 1e+09 in every run: there is no variation to explain; leave it out'
    )
    assert '"sum" is a linear combination of "u" and "v"' in refused(frame, ["u", "v", "sum"], ["a", "b"])
    assert '"cell" is the same in all runs of a cell' in refused(frame, ["cell", "u"], ["a", "b"])
    rounded = frame.with_columns(rounded=pl.lit(0.1) + pl.lit(0.2))
    assert "in every run" in refused(rounded, ["rounded", "u"], ["a"])


def test_designs_that_leave_too_little_are_refused():
    assert "4 runs and 4 parameters leave nothing" in refused(frame_of(1), ["u"], ["a", "b"])
    assert refused(frame_of(1), ["u", "v"], ["a", "b"], order=1) == (
        "2 responses need at least 2 error degrees of freedom, the design leaves 1: run more repeats, or test fewer "
        "responses together"
    )
    missing = frame_of().filter((pl.col("a") == "x") | (pl.col("b") == 1))
    assert "1 of 4 cells have no runs (a = y, b = 2)" in refused(missing, ["u"], ["a", "b"])
    assert 'factor "a" has only the level "x"' in refused(frame_of().filter(a="x"), ["u"], ["a", "b"])


@pytest.mark.parametrize(
    ("responses", "factors", "options", "text"),
    [
        (["u", "nothing"], ["a"], {}, 'no column "nothing"; the frame has a, b, u, v, w'),
        (["u"], ["c"], {}, 'no column "c"'),
        (["u", "u"], ["a"], {}, '"u" is named twice'),
        (["u"], ["a", "a"], {}, '"a" is named twice'),
        (["b"], ["b"], {}, '"b" is named twice'),
        ([], ["a"], {}, "at least one response"),
        (["u"], [], {}, "at least one factor"),
        (["a"], ["b"], {}, 'response "a" is x in row 0'),
        (["u"], ["a"], {"type": 1}, "sums of squares of type 1: expected 2 or 3"),
        (["u"], ["a"], {"order": 2}, "order 2: expected 1"),
        (["u"], ["a"], {"alpha": 5.0}, "alpha 5.0 is not between 0 and 1"),
        (["u"], ["a"], {"permutations": -1}, "permutations -1"),
    ],
)
def test_bad_calls_are_refused(responses: list[str], factors: list[str], options: dict[str, object], text: str):
    assert text in refused(frame_of(), responses, factors, **options)


def test_missing_numbers_and_levels_are_named_by_row():
    frame = frame_of().with_columns(u=pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise(pl.col("u")))
    assert 'response "u" is None in row 3' in refused(frame, ["u"], ["a"])
    frame = frame_of().with_columns(a=pl.when(pl.int_range(pl.len()) == 2).then(None).otherwise(pl.col("a")))
    assert 'factor "a" has no level in row 2' in refused(frame, ["u"], ["a"])


def test_levels_are_plain_values():
    frame = frame_of()
    holes = frame.with_columns(c=pl.Series([1.0, 2.0] * 7 + [math.nan, 1.0]))
    assert 'factor "c" has no level in row 14' in refused(holes, ["u"], ["c"])
    lists = frame.with_columns(c=pl.Series([["a"], ["b"]] * 8))
    assert "factor \"c\" is ['a'] in row 0; expected a text" in refused(lists, ["u"], ["c"])


def test_more_cells_than_could_be_run_are_counted_not_listed():
    names = [f"f{place}" for place in range(9)]
    frame = pl.DataFrame({name: range(16) for name in names}).with_columns(u=pl.Series(range(16)) * 1.5)
    assert refused(frame, ["u"], names) == (
        f"16 runs cannot fill the {16**9} cells of {' x '.join(names)}; leave out factors"
    )


def test_the_text_has_every_table():
    text = manova(film(), FILM, ["rate", "additive"], alpha=0.2).text()
    assert re.search(r"rate\s+Wilks' lambda\s+0\.3819\s+7\.554\s+3\s+14\s+0\.0030\s+exact", text)
    assert "sums of squares of type III (equal cells), sum-to-zero coding, 20 runs, 16 error degrees of freedom" in text
    assert "equal covariances are doubtful: Box's M (F) =" in text
    assert "permutation of residuals (Freedman-Lane)" in text
    assert re.search(r"corrected model\s+2\.50", text)
