"""The links of a fat tree, built from its definition (Al-Fares et al.), not from weft's own topology."""

from collections.abc import Callable

import polars as pl
import pytest


@pytest.fixture
def fat_tree_links() -> Callable[[int], pl.DataFrame]:
    """Directed links of a k-ary fat tree, both directions of every cable."""

    def build(k: int) -> pl.DataFrame:
        half = range(k // 2)
        cables = [(f"h{pod}{e}{j}", f"se{pod}{e}") for pod in range(k) for e in half for j in half]
        cables += [(f"se{pod}{e}", f"sa{pod}{a}") for pod in range(k) for e in half for a in half]
        cables += [(f"sa{pod}{i}", f"sc{i}{j}") for pod in range(k) for i in half for j in half]
        both = cables + [(b, a) for a, b in cables]
        return pl.DataFrame(both, schema=["src", "dst"], orient="row")

    return build
