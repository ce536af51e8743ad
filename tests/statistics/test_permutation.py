"""Permutation tests: exact where the orders can be counted, and right in how often they err."""

import numpy as np
import polars as pl
import pytest
from datasets import film, moore

from weft.statistics import manova
from weft.statistics.anova import standardized
from weft.statistics.design import design
from weft.statistics.permutation import permute


def column(values: list[float]) -> np.ndarray:
    return np.array(values)[:, None]


def test_two_groups_of_three_have_twenty_splits():
    # 1 2 3 against 10 11 12: of the 20 ways to split six values, two are as far apart: p = 0.1. With 9999 shuffles the
    # standard deviation of the share is 0.003.
    made = design(pl.DataFrame({"a": ["x"] * 3 + ["y"] * 3}), ["a"])
    found = permute(made, column([1.0, 2, 3, 10, 11, 12]), 9999, seed=1)[0]
    assert found.p_value == pytest.approx(0.1, abs=0.012)
    assert found.p_value == (found.exceeding + 1) / 10_000


def test_shuffles_stay_in_their_block():
    # Three blocks with one run of each kind: eight ways to swap, two of them as one-sided as what is seen.
    frame = pl.DataFrame({"kind": ["a", "b"] * 3, "repeat": [1, 1, 2, 2, 3, 3]})
    made = design(frame, ["kind"], block="repeat")
    found = permute(made, column([1.0, 2.0, 11.0, 12.5, 21.0, 22.25]), 9999, seed=1)[1]
    assert found.effect == "kind"
    assert found.p_value == pytest.approx(0.25, abs=0.02)


def test_the_seed_decides_everything():
    made = design(film(), ["rate", "additive"])
    values = film().select("tear", "gloss", "opacity").to_numpy()
    first, again, other = (permute(made, values, 700, seed) for seed in (3, 3, 4))
    assert first == again
    assert [row.exceeding for row in first] != [row.exceeding for row in other]


def test_it_agrees_with_the_f_test_where_that_is_exact():
    # Normal enough data: p 0.0030, 0.0247, 0.3018 (R); the standard deviation of a share of 9999 is at most 0.005.
    made = design(film(), ["rate", "additive"])
    values = np.column_stack([standardized(name, film()[name].to_numpy())[0] for name in ("tear", "gloss", "opacity")])
    p_values = [row.p_value for row in permute(made, values, 9999, seed=0)]
    assert p_values == pytest.approx([0.0030, 0.0247, 0.3018], abs=0.015)


def test_freedman_lane_by_the_definition():
    # Fit without the effect, shuffle what is left, add the fit again, and test the effect in the whole model.
    frame = moore()
    values = column(frame["conformity"].to_list())
    for type in (2, 3):
        made = design(frame, ["fcategory", "status"], type=type)
        whole = made.basis(made.terms)
        for place, term in enumerate(made.terms):
            before, owned = made.own(term)
            fit = before @ (before.T @ values)

            def statistic(shuffled: np.ndarray, owned: np.ndarray = owned, whole: np.ndarray = whole) -> float:
                own = float(np.sum((owned.T @ shuffled) ** 2))
                left = shuffled - whole @ (whole.T @ shuffled)
                return own / (own + float(np.sum(left**2)))

            random = np.random.default_rng([5, place])
            orders = random.permuted(np.tile(np.arange(45), (200, 1)), axis=1)
            exceeding = sum(
                statistic(fit + (values - fit)[order]) >= statistic(values) * (1 - 1e-9) for order in orders
            )
            assert permute(made, values, 200, seed=5)[place].exceeding == exceeding


def test_it_errs_as_often_as_it_says_on_skewed_responses():
    # Lognormal, equal cells, nothing differs: 400 samples reject 5 %, standard deviation 1.1 %.
    random = np.random.default_rng(6)
    codes = [(a, b) for a in range(2) for b in range(2) for _ in range(5)]
    made = design(pl.DataFrame({"a": [a for a, _ in codes], "b": [b for _, b in codes]}), ["a", "b"])
    rejected = np.zeros(3)
    for seed in range(400):
        rows = permute(made, random.lognormal(0.0, 1.5, size=(20, 2)), 199, seed)
        rejected += [row.p_value <= 0.05 for row in rows]
    assert np.all(np.abs(rejected / 400 - 0.05) <= 0.035)


def test_one_effect_hides_none_of_the_others():
    # A strong interaction and nothing else, balanced: the main effects stay quiet under type III.
    random = np.random.default_rng(9)
    codes = [(a, b) for a in (0, 1) for b in (0, 1) for _ in range(6)]
    signal = np.array([4.0 if a == b else -4.0 for a, b in codes])
    frame = pl.DataFrame({"a": [a for a, _ in codes], "b": [b for _, b in codes]}).with_columns(
        v=signal + random.normal(size=24), w=random.normal(size=24)
    )
    found = manova(frame, ["v", "w"], ["a", "b"], alpha=0.999, permutations=999)
    p_values = {row.effect: row.p_value for row in found.permuted}
    assert p_values["a × b"] == 0.001
    assert min(p_values["a"], p_values["b"]) > 0.05
