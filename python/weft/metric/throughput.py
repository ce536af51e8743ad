"""Throughput: all bytes on the wire over time, per flow: headers, retransmissions and control included.

Source: weft's own: goodput with the wire bytes of the flow's first link in place of payload.
"""

import polars as pl

from weft.metric.definition import Tables, columns, known


def throughput(tables: Tables) -> pl.Series:
    """Wire bits per second of each flow that delivered anything: goodput x wire bytes / payload bytes.

    Exact where the measurement window is the whole flow; with a warm-up it takes the share of overhead as constant.
    Raises ResultsError if `goodput_bps`, `wire_bytes` or `delivered_bytes` is absent or null.

    >>> flows = pl.DataFrame({"goodput_bps": [8.0e6], "wire_bytes": [1500], "delivered_bytes": [1200]})
    >>> throughput({"flows": flows}).to_list()
    [10000000.0]
    """
    counted = known(tables, "flows", "wire_bytes", "delivered_bytes")
    rates = columns(tables, "flows", "goodput_bps")
    flows = pl.concat([counted, rates], how="horizontal").filter(pl.col("delivered_bytes") > 0)
    delivering = known({"flows": flows}, "flows", *flows.columns)
    rate = pl.col("goodput_bps") * pl.col("wire_bytes") / pl.col("delivered_bytes")
    return delivering.select(rate.alias("throughput_bps"))["throughput_bps"]
