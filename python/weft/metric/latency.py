"""Latency: one-way delay of a flow's datagrams, or the time of an application's queries, mean of each flow.

Source: RFC 7679 for one-way delay; a query counts from asking to the last byte of the slowest answer, as its user waits
(Dean and Barroso, "The tail at scale", CACM 56, 2013). Percentiles inside a flow are the columns latency_p50_ns and
latency_p99_ns.
"""

import polars as pl

from weft.errors import ResultsError
from weft.metric.definition import Tables, columns


def latency(tables: Tables) -> pl.Series:
    """Nanoseconds of each flow that has a latency: UDP, and connections of an `rpc`.

    Raises ResultsError if no flow has one.

    >>> latency({"flows": pl.DataFrame({"latency_mean_ns": [150_000, None]})}).to_list()
    [150000]
    """
    found = columns(tables, "flows", "latency_mean_ns")["latency_mean_ns"].drop_nulls()
    if found.is_empty():
        raise ResultsError("latency: no flow has one; datagrams (udp) and the workload rpc do")
    return found
