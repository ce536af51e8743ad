"""Oracle 24: quantiles of samples whose quantiles are known."""

import random

import numpy as np
import pytest

from weft.errors import ResultsError
from weft.statistics import quantile


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99, 0.999, 1.0])
def test_quantiles_of_an_even_grid_are_the_share(share: float):
    grid = [i / 1000 for i in range(1001)]
    random.Random(1).shuffle(grid)
    assert quantile(grid, share) == pytest.approx(share, abs=1e-12)


def test_quantile_agrees_with_numpy():
    generator = random.Random(2)
    sample = [generator.expovariate(1.0) for _ in range(137)]
    for share in (0.01, 0.25, 0.5, 0.75, 0.99):
        assert quantile(sample, share) == pytest.approx(float(np.quantile(sample, share)), abs=1e-12)


@pytest.mark.parametrize(("sample", "share"), [([], 0.5), ([1.0], 1.5), ([float("nan")], 0.5)])
def test_what_has_no_quantile_is_refused(sample: list[float], share: float):
    with pytest.raises(ResultsError):
        quantile(sample, share)
