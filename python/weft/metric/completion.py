"""Completion: share of the flows with a size that finished before the run ended."""

import polars as pl

from weft.metric.definition import Tables, columns


def completion(tables: Tables) -> pl.Series:
    """Finished over finite flows of the run, 0 to 1, as a series of one value; endless flows do not count.

    The series is empty if every flow is endless. Raises ResultsError if `size_bytes` or `fct_ns` is absent.

    >>> flows = pl.DataFrame({"size_bytes": [100, 100, None], "fct_ns": [5, None, None]})
    >>> completion({"flows": flows}).to_list()
    [0.5]
    """
    flows = columns(tables, "flows", "size_bytes", "fct_ns")
    finite = flows.filter(pl.col("size_bytes").is_not_null() | pl.col("fct_ns").is_not_null())
    finished = finite.height - finite["fct_ns"].null_count()
    return pl.Series("completion", [finished / finite.height] if finite.height else [], dtype=pl.Float64)
