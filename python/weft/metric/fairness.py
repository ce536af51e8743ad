"""Fairness: Jain index over the goodput of the run's flows.

Source: Jain, Chiu, Hawe, DEC TR-301, 1984.
"""

import polars as pl

from weft.metric.definition import Tables
from weft.metric.goodput import goodput
from weft.statistics.fairness import jain


def fairness(tables: Tables) -> pl.Series:
    """Jain index of the flows' goodput, 1/n to 1, as a series of one value.

    Raises ResultsError if goodput is absent or null.

    >>> fairness({"flows": pl.DataFrame({"goodput_bps": [1.0, 1.0, 0.0, 0.0]})}).to_list()
    [0.5]
    """
    return pl.Series("fairness", [jain(goodput(tables).to_list())])
