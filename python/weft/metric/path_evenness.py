"""Path evenness: n x min(bytes) / sum(bytes) over the n available paths of a flow; 1 when all carried the same.

Source: weft's own.
"""

import polars as pl

from weft.metric.available_paths import path_use
from weft.metric.definition import Tables


def path_evenness(tables: Tables) -> pl.Series:
    """Evenness of each flow that sent anything, 0 (an available path stayed empty) to 1.

    Raises ResultsError if `paths` was not recorded (`[measure] paths = true`) or a column is absent or null.

    >>> links = pl.DataFrame({"src": ["a", "a", "b", "c"], "dst": ["b", "c", "d", "d"]})
    >>> flows = pl.DataFrame({"flow": [0], "src": ["a"], "dst": ["d"]})
    >>> paths = pl.DataFrame({"flow": [0, 0], "path": [["a>b", "b>d"], ["a>c", "c>d"]], "tx_bytes": [10, 30]})
    >>> path_evenness({"links": links, "flows": flows, "paths": paths}).to_list()
    [0.5]
    """
    use = path_use(tables).filter(pl.col("total_bytes") > 0)
    evenness = pl.col("available") * pl.col("least_bytes") / pl.col("total_bytes")
    return use.select(evenness.alias("path_evenness"))["path_evenness"]
