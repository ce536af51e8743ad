"""Core balance: traffic through each switch of the highest level over the mean of them; 1 where all carry the same.

Source: Al-Fares, Loukissas, Vahdat, SIGCOMM 2008: what a fat tree's multipath routing is for. Of the measured window.
"""

import polars as pl

from weft.errors import ResultsError
from weft.metric.definition import Tables, columns, known


def core_balance(tables: Tables) -> pl.Series:
    """Bits that each switch of the highest level received over the mean of these switches, at least 0.

    Raises ResultsError if the switches of the fabric are all on one level or none of the highest carried anything, and
    if a column of `nodes` or `links` is absent or null.

    >>> nodes = pl.DataFrame({"node": ["h", "e", "c0", "c1"], "kind": ["host"] + 3 * ["switch"], "level": [0, 1, 2, 2]})
    >>> links = pl.DataFrame({"dst": ["c0", "c1"], "rate_bps": [10, 10], "utilization": [0.2, 0.6]})
    >>> core_balance({"nodes": nodes, "links": links}).to_list()
    [0.5, 1.5]
    """
    links = known(tables, "links", "dst", "rate_bps", "utilization")
    switches = columns(tables, "nodes", "node", "kind", "level").filter(pl.col("kind") == "switch")
    levels = switches["level"].drop_nulls().unique()
    if levels.len() < 2:
        raise ResultsError("core_balance: the switches of this fabric are all on one level, so it has no core")
    core = switches.filter(pl.col("level") == levels.max()).select(pl.col("node").alias("dst"))
    bits = (pl.col("rate_bps") * pl.col("utilization")).sum().alias("bits")
    carried = core.join(links.group_by("dst").agg(bits), on="dst", how="left").with_columns(pl.col("bits").fill_null(0))
    if not carried["bits"].sum() > 0:
        raise ResultsError("core_balance: nothing went through the switches of the highest level")
    return carried.select((pl.col("bits") / pl.col("bits").mean()).alias("core_balance"))["core_balance"]
