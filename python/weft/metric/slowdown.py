"""Slowdown: flow completion time over that of the same flow alone on an idle network.

Source: Alizadeh et al., "pFabric", SIGCOMM 2013 (there: normalized FCT).
"""

import polars as pl

from weft.errors import ResultsError
from weft.metric.definition import Tables, columns


def slowdown(tables: Tables) -> pl.Series:
    """FCT over ideal FCT of each finished flow, at least 1 where the ideal is right.

    Raises ResultsError if `fct_ns` or `ideal_fct_ns` is absent, no flow finished, or an ideal is unknown.

    >>> slowdown({"flows": pl.DataFrame({"fct_ns": [20, None], "ideal_fct_ns": [10, 10]})}).to_list()
    [2.0]
    """
    flows = columns(tables, "flows", "fct_ns", "ideal_fct_ns")
    finished = flows.filter(pl.col("fct_ns").is_not_null())
    if finished.is_empty():
        raise ResultsError(f"slowdown: none of {flows.height} flows finished; give them a `size`, or raise `limit`")
    if without := finished.filter(pl.col("ideal_fct_ns").fill_null(0) <= 0).height:
        raise ResultsError(
            f"flows.ideal_fct_ns: unknown for {without} of {finished.height} finished flows; "
            "compare `fct` instead, or run with the packet backend"
        )
    return finished.select((pl.col("fct_ns") / pl.col("ideal_fct_ns")).alias("slowdown"))["slowdown"]
