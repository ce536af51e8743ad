"""Path share: share of the available paths between a flow's hosts that carried anything.

Source: weft's own; the "network utilization" of packet-spraying studies, which give no formula for it.
"""

import polars as pl

from weft.metric.available_paths import path_use
from weft.metric.definition import Tables


def path_share(tables: Tables) -> pl.Series:
    """Used over available paths of each flow, 0 to 1.

    Raises ResultsError if `paths` was not recorded (`[measure] paths = true`) or a column is absent or null.

    >>> links = pl.DataFrame({"src": ["a", "a", "b", "c"], "dst": ["b", "c", "d", "d"]})
    >>> flows = pl.DataFrame({"flow": [0], "src": ["a"], "dst": ["d"]})
    >>> paths = pl.DataFrame({"flow": [0], "path": [["a>b", "b>d"]], "tx_bytes": [10]})
    >>> path_share({"links": links, "flows": flows, "paths": paths}).to_list()
    [0.5]
    """
    use = path_use(tables).filter(pl.col("available") > 0)
    return use.select((pl.col("used") / pl.col("available")).alias("path_share"))["path_share"]
