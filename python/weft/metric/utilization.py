"""Utilization: share of the measurement window in which a link was sending.

Source: RFC 5136, section 2.3 (with layer-2 bytes, preamble and gap counted as the link's `overhead` says).
"""

import polars as pl

from weft.metric.definition import Tables, known


def utilization(tables: Tables) -> pl.Series:
    """Share of each directed link, 0 to 1. The run's number is the largest: the bottleneck.

    Raises ResultsError if `links.utilization` is absent or null.

    >>> utilization({"links": pl.DataFrame({"utilization": [0.25, 0.75]})}).max()
    0.75
    """
    return known(tables, "links", "utilization")["utilization"]
