"""Closed: time from a flow's first SYN to its last FIN, as a packet capture gives it.

Source: the path diversity study (experiments/studies), whose completion times are of captures. It counts what `fct`
leaves out: the last acknowledgment and the end of the connection, of every subflow.
"""

import polars as pl

from weft.errors import ResultsError
from weft.metric.definition import Tables, columns


def closed(tables: Tables) -> pl.Series:
    """Nanoseconds of each flow that was closed; the others (null) are left out: see the metric `completion`.

    Raises ResultsError if `flows.closed_ns` is absent or no flow was closed.

    >>> closed({"flows": pl.DataFrame({"closed_ns": [2000, None, 3000]})}).to_list()
    [2000, 3000]
    """
    flows = columns(tables, "flows", "closed_ns")
    ended = flows["closed_ns"].drop_nulls()
    if ended.is_empty():
        raise ResultsError(
            f"closed: none of {flows.height} connections was closed; give the flows a `size`, or raise `limit`"
        )
    return ended
