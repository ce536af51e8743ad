"""Goodput: payload received over time, per flow.

Source: RFC 2647, section 3.17, applied to payload of the transport; the measurement window is that of
docs/model.md (for a finished flow without warm-up, its size over its completion time).
"""

import polars as pl

from weft.metric.definition import Tables, columns, known


def goodput(tables: Tables) -> pl.Series:
    """Payload bits per second of each flow that started, at least 0; unfinished ones count with what they received.

    Raises ResultsError if `flows.goodput_bps` is absent or null.

    >>> goodput({"flows": pl.DataFrame({"goodput_bps": [9.0e6, 7.0e6]})}).to_list()
    [9000000.0, 7000000.0]
    """
    return started(tables, "goodput_bps")["goodput_bps"]


def started(tables: Tables, *names: str) -> pl.DataFrame:
    """These columns of the flows that started; `goodput_bps` is one of them, and null for the others alone."""
    columns(tables, "flows", *names)  # Named with a way out where it is missing.
    flows = tables["flows"]
    if "start_ns" in flows.columns:
        flows = flows.filter(pl.col("start_ns").is_not_null() | pl.col("goodput_bps").is_not_null())
    return known({"flows": flows}, "flows", *names)
