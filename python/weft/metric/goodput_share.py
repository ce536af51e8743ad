"""Goodput share: goodput of a flow over the rate of its source's card.

Source: Singla et al., "Jellyfish", NSDI 2012, section 5: throughput normalized to that of the server's card. Payload is
what is counted here, so that headers keep it below 1: with TCP and timestamps over Ethernet at 1448/1538 = 0.9415.
"""

import polars as pl

from weft.metric.definition import Tables, known
from weft.metric.goodput import started


def goodput_share(tables: Tables) -> pl.Series:
    """Goodput of each flow that started over the rate of all links of its source, 0 to 1.

    Raises ResultsError if `flows.goodput_bps`, `links.rate_bps` or a name is absent or null.

    >>> links = pl.DataFrame({"src": ["a", "s"], "rate_bps": [10, 10]})
    >>> flows = pl.DataFrame({"src": ["a"], "goodput_bps": [9.0]})
    >>> goodput_share({"links": links, "flows": flows}).to_list()
    [0.9]
    """
    rates = known(tables, "links", "src", "rate_bps").group_by("src").agg(pl.col("rate_bps").sum())
    joined = started(tables, "src", "goodput_bps").join(rates, on="src", how="left", maintain_order="left")
    return joined.select((pl.col("goodput_bps") / pl.col("rate_bps")).alias("goodput_share"))["goodput_share"]
