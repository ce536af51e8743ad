"""Loss: share of the packets offered to the queues that were dropped.

Source: RFC 7680, section 2.3 (here at the queues; loss on the wire, where a link has some, is not in it).
"""

import polars as pl

from weft.metric.definition import Tables, known


def loss(tables: Tables) -> pl.Series:
    """Dropped over offered (enqueued + dropped) packets of the run, 0 to 1, as a series of one value.

    The series is empty if nothing was offered. Raises ResultsError if a column is absent or null.

    >>> loss({"queues": pl.DataFrame({"enqueued_packets": [90, 0], "dropped_packets": [10, 0]})}).to_list()
    [0.1]
    """
    queues = known(tables, "queues", "enqueued_packets", "dropped_packets")
    dropped = int(queues["dropped_packets"].sum())
    offered = dropped + int(queues["enqueued_packets"].sum())
    return pl.Series("loss", [dropped / offered] if offered else [], dtype=pl.Float64)
