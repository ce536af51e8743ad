"""Drops: packets that a queue refused or discarded.

Source: RFC 2863 (`ifOutDiscards`).
"""

import polars as pl

from weft.metric.definition import Tables, known


def drops(tables: Tables) -> pl.Series:
    """Packets dropped by each queue; the run's number is their sum.

    Raises ResultsError if `queues.dropped_packets` is absent or null.

    >>> drops({"queues": pl.DataFrame({"dropped_packets": [3, 0, 4]})}).sum()
    7
    """
    return known(tables, "queues", "dropped_packets")["dropped_packets"]
