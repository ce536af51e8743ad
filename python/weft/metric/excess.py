"""Excess traffic: share of a flow's bytes on the wire that were not payload delivered for the first time.

Source: the path diversity study (experiments/studies): 1 - goodput / throughput. Headers, control and retransmissions
count alike: of a full Ethernet frame of 1514 bytes with 1448 of payload 4.4 % are excess, without anything sent twice.
"""

import polars as pl

from weft.metric.definition import Tables, known


def excess(tables: Tables) -> pl.Series:
    """1 - payload delivered / wire bytes of each flow that sent anything, 0 to 1.

    Raises ResultsError if `wire_bytes` or `delivered_bytes` is absent or null.

    >>> excess({"flows": pl.DataFrame({"wire_bytes": [1500], "delivered_bytes": [1200]})}).to_list()
    [0.2]
    """
    flows = known(tables, "flows", "wire_bytes", "delivered_bytes").filter(pl.col("wire_bytes") > 0)
    share = (pl.col("wire_bytes") - pl.col("delivered_bytes")) / pl.col("wire_bytes")
    return flows.select(share.alias("excess"))["excess"]
